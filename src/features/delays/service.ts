import type { DueHandler } from '../../core/due/due-records.ts'
import type { FeatureCore } from '../../core/feature.ts'
import type { DelayedOf } from '../../core/ports/storage/notifications.ts'
import type { RecordInsert } from '../../core/ports/storage/records.ts'
import { type DelayValue, delayKind } from './records.ts'

/** Messages that a step examines. */
const MOST = 1_000
/** Steps in a row: of a call, or between two commits of a record. */
const STEPS = 20
/**
 * Until what was judged by the old wishes while they changed is judged again: longer than an accept or attempt is under way,
 * and than other processes keep categories.
 */
const AGAIN_MS = 10_000

/** Has the gate judge delayed messages again after a change of what it goes by. */
export interface Delays {
  /**
   * What to store in the commit of the change. It judges the messages of a person again after some seconds, others at
   * once and after some seconds.
   */
  changed(organizationId: string, of: DelayedOf): RecordInsert<DelayValue>
  /** Judges messages again now, after the change of a person's wishes is stored. Never rejects. */
  judgeAgain(organizationId: string, of: DelayedOf): Promise<void>
}

type DelayServices = Pick<FeatureCore, 'storage' | 'ids' | 'clock' | 'wake'>

export function createDelays(core: DelayServices): Delays {
  const { ids, clock } = core
  return {
    changed(organizationId, of) {
      const now = clock.now()
      const isPerson = of.by === 'recipient' || of.by === 'address'
      const when = isPerson ? { more: 0, dueAt: now + AGAIN_MS } : { more: 1, dueAt: now }
      const value = { of, after: null, ...when }
      const record = { kind: delayKind, do: 'insert', id: ids.random('dly'), organizationId, value } as const
      // It is short-lived, and goes with changes that free bytes, too.
      return { ...record, budget: undefined }
    },
    async judgeAgain(organizationId, of) {
      // What is left, and what fails, is done when the record of the change falls due.
      await judgeSteps(core, organizationId, of, null).catch(() => {})
    },
  }
}

/** Goes through the delayed messages in steps, as often as the record of a change says. */
export function judgesAgain(core: DelayServices): DueHandler<DelayValue> {
  return {
    kind: delayKind,
    async handle({ record, token }, signal) {
      const { id, revision, organizationId, readAt, value } = record
      const { of, after, more } = value
      if (organizationId === null) throw new Error('It belongs to no organization.')
      const next = await judgeSteps(core, organizationId, of, after, signal)
      const as = { kind: delayKind, id, token }
      if (next === null && more === 0) return { writes: [{ ...as, do: 'remove' }] }
      const then: DelayValue =
        next === null
          ? { of, after: null, more: more - 1, dueAt: readAt + AGAIN_MS }
          : { of, after: next, more, dueAt: readAt }
      return { writes: [{ ...as, do: 'replace', revision, value: then }] }
    },
  }
}

/** Returns where to continue. Null: all were examined. */
async function judgeSteps(
  { storage, wake }: DelayServices,
  organizationId: string,
  of: DelayedOf,
  from: string | null,
  signal?: AbortSignal,
): Promise<string | null> {
  let after = from ?? undefined
  for (let step = 0; step < STEPS; step += 1) {
    const { moved, next } = await storage.notifications.judgeAgain({ organizationId, of, most: MOST, after })
    if (moved > 0) wake()
    if (next === null) return null
    after = next
    if (signal?.aborted === true) break
  }
  return after ?? null
}
