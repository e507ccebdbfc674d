import type { Kinds } from '../channels/kinds.ts'
import { partsFor } from '../channels/parts-of.ts'
import { NotifierError } from '../errors/notifier-error.ts'
import type { AcceptReads } from '../ports/storage/accept.ts'
import type { ParsedBatch } from './batch.ts'
import type { ParsedSend } from './input.ts'

/** Looks up the notifications that messages answer, before the messages are validated. */
export interface Answered {
  /** Undefined: the message answers none. @throws NotifierError `notification_not_found` */
  inMessage(input: ParsedSend, organizationId: string, reads: AcceptReads): Promise<void> | undefined
  /** A message that answers an unknown notification gets its own error. */
  inBatch(parsed: ParsedBatch, organizationId: string, reads: AcceptReads): Promise<ParsedBatch> | undefined
}

interface Answer {
  readonly channel: string
  readonly id: string
}

/** Lookups of a batch at a time. */
const LOOKUPS = 20

export function createAnswered({ known }: Kinds): Answered {
  const kinds = [...known.values()].filter(({ answers }) => answers !== undefined)

  function answerIn(input: ParsedSend): Answer | undefined {
    for (const { name: channel, answers } of kinds) {
      const parts = partsFor(channel, input)
      const id = parts === undefined ? undefined : answers?.(parts)
      if (id !== undefined) return { channel, id }
    }
    return undefined
  }

  return {
    inMessage(input, organizationId, reads) {
      const answer = answerIn(input)
      if (answer === undefined) return undefined
      return exists(answer, organizationId, reads).then((found) => {
        if (!found) throw unknown(answer)
      })
    },
    inBatch(parsed, organizationId, reads) {
      const answers = parsed.inputs.flatMap(([, input]) => answerIn(input) ?? [])
      if (answers.length === 0) return undefined
      return existing(answers, organizationId, reads).then((found) => {
        const errors = parsed.errors.copy()
        const inputs = parsed.inputs.filter(([index, input]) => {
          const answer = answerIn(input)
          if (answer === undefined || found.has(keyOf(answer))) return true
          errors.add(index, unknown(answer))
          return false
        })
        return { ...parsed, inputs, errors }
      })
    },
  }
}

const keyOf = ({ channel, id }: Answer): string => `${channel} ${id}`

async function exists(
  { channel, id }: Answer,
  organizationId: string,
  { notifications }: AcceptReads,
): Promise<boolean> {
  const found = await notifications.get(id)
  return found?.organizationId === organizationId && found.channel === channel
}

async function existing(
  answers: readonly Answer[],
  organizationId: string,
  reads: AcceptReads,
): Promise<ReadonlySet<string>> {
  const distinct = [...new Map(answers.map((answer) => [keyOf(answer), answer]))]
  const found = new Set<string>()
  for (let at = 0; at < distinct.length; at += LOOKUPS) {
    await Promise.all(
      distinct.slice(at, at + LOOKUPS).map(async ([key, answer]) => {
        if (await exists(answer, organizationId, reads)) found.add(key)
      }),
    )
  }
  return found
}

/** Also for a notification of another organization: a send must not reveal whether it exists. */
function unknown({ channel, id }: Answer): NotifierError {
  const field = `${channel}.inReplyTo`
  return new NotifierError('notification_not_found', {
    status: 422,
    message: `"${field}": the organization has no notification "${id}" on this channel.`,
    details: { field, id },
  })
}
