import type { Kinds } from '../channels/kinds.ts'
import type { Gate } from '../gate/gate.ts'
import { type Asked, GO, type Verdict } from '../gate/verdict.ts'
import { type Coalesced, coalesce } from '../loop/coalesce.ts'
import type { Category } from '../notification/category.ts'
import type { CategorySource } from '../notification/category-source.ts'
import type { Clock } from '../ports/clock.ts'
import type { RecordReads } from '../records/record-stores.ts'
import type { NotificationJob } from './end-before.ts'

/** Why copies are left out, by their addresses. */
export type Unwanted = ReadonlyMap<string, Extract<Verdict, { kind: 'refuse' | 'skip' }>>

/** What the gate says about the message of a job now. */
export interface Judged {
  readonly category: Category
  readonly verdict: Verdict
  readonly unwanted: Unwanted
}

/** Rejects if the storage is away. The jobs of one turn of the event loop are judged together. */
export type JudgeJob = (job: NotificationJob) => Promise<Judged>

const NONE: Unwanted = new Map()

export function createJudgeJob(
  gate: Gate,
  categories: Pick<CategorySource, 'ofStored'>,
  records: RecordReads,
  kinds: Kinds,
  clock: Pick<Clock, 'now'>,
): JudgeJob {
  const context = { records, inside: false }
  const verdictOn: Coalesced<Asked, Verdict> = coalesce((asked) => gate(asked, context))

  return async (job) => {
    const { organizationId, notification } = job
    const { channel, to, recipient, metadata, content, category: id } = notification
    const named = categories.ofStored(organizationId, id)
    const category = named instanceof Promise ? await named : named
    // The attempt ends it without a provider.
    if (content.turnedOff !== undefined) return { category, verdict: GO, unwanted: NONE }
    const kind = kinds.of(channel)
    const at = clock.now()
    const answer = verdictOn({ organizationId, kind, to, recipient, category, metadata, at, copy: false })
    const copies = content.parts === undefined ? undefined : kind.copiesOf?.(content.parts)
    if (copies === undefined || copies.length === 0)
      return { category, verdict: await answer, unwanted: NONE }
    const ofCopies = copies.map((address) =>
      verdictOn({
        organizationId,
        kind,
        to: address,
        recipient: null,
        category,
        metadata,
        at,
        copy: true,
      }),
    )
    const [verdict, ...others] = await Promise.all([answer, ...ofCopies])
    return { category, verdict, unwanted: unwantedOf(copies, others) }
  }
}

function unwantedOf(copies: readonly string[], verdicts: readonly Verdict[]): Unwanted {
  return new Map(
    copies.flatMap((address, at) => {
      const verdict = verdicts[at]
      return verdict?.kind === 'refuse' || verdict?.kind === 'skip' ? [[address, verdict]] : []
    }),
  )
}
