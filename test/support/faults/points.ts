import type { ClaimAnswer } from '../../../src/core/ports/storage/claim.ts'
import type { DueAnswer, RecordWrite } from '../../../src/core/ports/storage/records.ts'
import type { Storage } from '../../../src/core/ports/storage/storage.ts'

/** What a process is doing when it ends: one commit of the storage. Those of webhook events are apart. */
export type Verb =
  | 'accept'
  | 'claim'
  | 'claim-event'
  | 'start'
  | 'start-event'
  | 'settle'
  | 'settle-event'
  | 'receipts'
  | 'retry'
  | 'sweep'
  | 'claim-due'
  | 'write-due'

/** A moment in the life of a process: before a commit, or after it and before anybody was told. */
export type Point = `${'before' | 'after'}:${Verb}`

type AnyVerb<Input, Answer> = (input: Input) => Promise<Answer>

const isEndpoint = (provider: string): boolean => provider.startsWith('wh_')
const isResult = (write: RecordWrite): boolean => write.do !== 'insert' && write.token !== undefined

/** The same storage, which calls `end` once, when it comes to `point`. */
export function endingAt(storage: Storage, point: Point, end: () => void): Storage {
  const [when, wanted] = point.split(':')
  let ended = false

  function endOnce(now: 'before' | 'after', verbs: readonly (Verb | false)[]): void {
    if (ended || now !== when || !verbs.some((verb) => verb === wanted)) return
    ended = true
    end()
  }

  /** @param verbsOf what the call is about */
  function around<Input, Answer>(
    call: AnyVerb<Input, Answer>,
    verbsOf: (input: Input, answer?: Answer) => readonly (Verb | false)[],
  ): AnyVerb<Input, Answer> {
    return async (input) => {
      endOnce('before', verbsOf(input))
      const answer = await call(input)
      endOnce('after', verbsOf(input, answer))
      return answer
    }
  }

  return {
    ...storage,
    accept: around(storage.accept, () => ['accept']),
    claim: around(storage.claim, (_request, answer?: ClaimAnswer) =>
      (answer?.jobs ?? []).flatMap(({ kind, begun }): readonly (Verb | false)[] =>
        kind === 'event' ? ['claim-event', begun === true && 'start-event'] : ['claim'],
      ),
    ),
    startAttempts: around(storage.startAttempts, (refs) =>
      refs.map(({ provider }) => (isEndpoint(provider) ? 'start-event' : 'start')),
    ),
    settle: around(storage.settle, (settlements) =>
      settlements.map(({ kind }) => (kind === 'event' ? 'settle-event' : 'settle')),
    ),
    recordReceipts: around(storage.recordReceipts, () => ['receipts']),
    notifications: {
      ...storage.notifications,
      retry: around(storage.notifications.retry, () => ['retry']),
    },
    records: {
      ...storage.records,
      claimDue: around(storage.records.claimDue, (_request, answer?: DueAnswer) => [
        (answer?.due ?? []).length > 0 && 'claim-due',
      ]),
      write: around(storage.records.write, (sets) => [sets.flat().some(isResult) && 'write-due']),
    },
    expire: around(storage.expire, ({ what }) => (what.organizationId === undefined ? [] : ['sweep'])),
  }
}
