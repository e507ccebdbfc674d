import { suppressedAddress } from '../core/channels/recipient.ts'
import type { NotifierError } from '../core/errors/notifier-error.ts'
import { isNotifierError } from '../core/errors/notifier-error.ts'
import type { Asked, Judge, Verdict } from '../core/gate/verdict.ts'
import { GO } from '../core/gate/verdict.ts'
import { inTime } from '../core/loop/within.ts'
import { LATEST_TIME } from '../core/notification/outcome.ts'
import { failureOfPlugin } from '../core/observe/plugin-calls.ts'
import type { Clock } from '../core/ports/clock.ts'
import { type PluginReads, pluginReads, type RecordRules } from './records.ts'

/** A message to an address, before it goes there. */
export interface JudgedMessage {
  readonly organizationId: string
  readonly channel: string
  /** As it was given. */
  readonly to: string
  /** The same for all spellings of one address: in lower case for e-mail. */
  readonly address: string
  /** The application's id of the person. Null: unknown. */
  readonly recipient: string | null
  /** The id of its category. */
  readonly category: string
  /** True: people cannot turn its category off. */
  readonly required: boolean
  readonly metadata: Readonly<Record<string, string>> | null
  /**
   * The time for which it is judged, in epoch milliseconds: now, or its `sendAt` if that is later. It is judged again when
   * it is due.
   */
  readonly at: number
  /** True: the address gets a copy of the message. It is left out if it is refused or skipped, and waits for nothing. */
  readonly copy: boolean
}

/** What a plug-in says about a message to an address. Made by {@link go}, {@link deny}, {@link skip} and {@link wait}. */
export type PluginVerdict = Verdict

/**
 * Says of each message whether it may go, in order: of one send, or of thousands of a batch, also of several
 * organizations. It must answer within five seconds. If it throws, a send is refused with `service_unavailable`, and a
 * notification waits and is judged again.
 *
 * @param reads its records, inside the transaction of the caller if there is one
 */
export type PluginJudge = (
  messages: readonly JudgedMessage[],
  reads: PluginReads,
) => readonly PluginVerdict[] | Promise<readonly PluginVerdict[]>

/** The message may go. */
export const go: PluginVerdict = GO

/**
 * The message must not go. A send is refused with the error; a notification that was accepted before fails with it.
 *
 * @example
 * const verdict = deny(error('closed'))
 */
export function deny(error: NotifierError): PluginVerdict {
  return { kind: 'refuse', error }
}

/**
 * The message is not wanted: the notification ends as `skipped`.
 *
 * @param reason lower-case letters, digits and `_`; `error.decidedBy` shows it behind the name of the plug-in
 * @param message a sentence for people
 *
 * @example
 * const verdict = skip('muted', 'The person has muted these messages for an hour.')
 */
export function skip(reason: string, message: string): PluginVerdict {
  return { kind: 'skip', decidedBy: reason, message }
}

/**
 * The message waits. A time in the past is no wait.
 *
 * @param until epoch milliseconds
 * @param reason a sentence for people, which `waiting.message` of the notification shows
 *
 * @example
 * const verdict = wait(Date.now() + 3_600_000, 'The person sleeps.')
 */
export function wait(until: number, reason: string): PluginVerdict {
  return { kind: 'wait', until, reason }
}

const LONGEST_MS = 5_000
const REASON = /^[a-z][a-z0-9_]{0,39}$/
const MOST_WORDS = 500

/**
 * The judge of a plug-in as the gate asks it. What it throws, and a wrong answer, becomes `service_unavailable`.
 *
 * @param failed receives its faults
 */
export function guardedJudge(
  name: string,
  judge: PluginJudge,
  clock: Clock,
  rules: RecordRules,
  failed: (error: unknown) => void,
): Judge {
  const part = `judge of the plug-in "${name}"`

  return async (asked, { records }) => {
    try {
      const verdicts = await inTime(
        part,
        () => judge(asked.map(shown), pluginReads(records, rules)),
        LONGEST_MS,
        clock,
      )
      if (!Array.isArray(verdicts) || verdicts.length !== asked.length)
        throw new Error(`It must answer ${asked.length} verdicts, one for each message in order.`)
      return verdicts.map((verdict: unknown) => sound(name, verdict))
    } catch (error) {
      const failure = failureOfPlugin(part, error)
      failed(failure)
      throw failure
    }
  }
}

function shown({ organizationId, kind, to, recipient, category, metadata, at, copy }: Asked): JudgedMessage {
  const { id, required } = category
  const address = suppressedAddress(kind, to)
  return {
    organizationId,
    channel: kind.name,
    to,
    address,
    recipient,
    category: id,
    required,
    metadata,
    at,
    copy,
  }
}

function sound(name: string, given: unknown): Verdict {
  const verdict = (given ?? {}) as Verdict
  switch (verdict.kind) {
    case 'go':
      return GO
    case 'refuse':
      if (!isNotifierError(verdict.error)) throw new Error('A refusal needs an error: deny(error("code")).')
      return verdict
    case 'skip':
      if (!REASON.test(verdict.decidedBy))
        throw new Error('The reason of a skip has 1 to 40 lower-case letters, digits and "_".')
      return { ...verdict, decidedBy: `${name}.${verdict.decidedBy}`, message: words(verdict.message) }
    case 'wait':
      if (!(verdict.until <= LATEST_TIME)) throw new Error('A wait ends at a time in epoch milliseconds.')
      return { ...verdict, reason: words(verdict.reason) }
    default:
      throw new Error('A verdict is go, or made by deny(), skip() or wait().')
  }
}

function words(text: unknown): string {
  if (typeof text !== 'string' || text === '' || text.length > MOST_WORDS)
    throw new Error(`A verdict has words for people, of at most ${MOST_WORDS} characters.`)
  return text
}
