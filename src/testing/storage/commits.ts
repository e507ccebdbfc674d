import assert from 'node:assert/strict'
import { isNotifierError } from '../../core/errors/notifier-error.ts'
import { DEFAULT_ORGANIZATION } from '../../core/tenancy/organization.ts'
import { Absent } from '../test-api.ts'
import {
  accept,
  claimOne,
  deliver,
  ended,
  jobOf,
  LEASE_MS,
  note,
  notes,
  sent,
  start,
  timeOf,
} from './fixtures.ts'
import type { Check, StorageHarness } from './harness.ts'
import { find, insertion, itemKind } from './record-fixtures.ts'

const organizationId = DEFAULT_ORGANIZATION
const NO_LOST_ANSWER = 'The harness loses no answer to a commit.'

/**
 * A storage with a commit that goes wrong. `attempt` resolves with the answer of the call whose commit it was, or with
 * null if the call was rejected as it may be.
 */
interface Wrong extends StorageHarness {
  attempt<Answer>(call: () => Promise<Answer>): Promise<Answer | null>
}

type Ways = Readonly<Record<string, (wrong: Wrong) => Promise<void>>>

/** Each for a commit that fails, and one without an answer: what is stored agrees with the answer, and the call can be repeated. */
const WAYS: Ways = {
  async 'an accept'({ storage, secondDoor, attempt }) {
    const key = { organizationId, operation: 'send', key: 'order-17' } as const
    const idempotency = { ...key, fingerprint: 'f', result: '{}', ttlMs: 3_600_000 }
    const request = { organizationId, notifications: notes(2), idempotency, quota: { period: 'p', limit: 9 } }
    const answers = await attempt(() => storage.accept([request]))
    if (answers !== null) assert.equal(answers[0]?.kind, 'accepted')
    const stored = async () => [
      (await secondDoor.notifications()).length,
      (await secondDoor.jobs()).length,
      (await secondDoor.idempotency()).length,
      await storage.quotaUsed(organizationId, 'p'),
    ]
    assert.deepEqual(await stored(), answers === null ? [0, 0, 0, 0] : [2, 2, 1, 2])
    const [found] = await storage.findIdempotent([key])
    assert.equal(found === null, answers === null)
    const [again] = await storage.accept([request])
    assert.equal(again?.kind, answers === null ? 'accepted' : 'replayed')
    assert.deepEqual(await stored(), [2, 2, 1, 2])
  },

  async 'a settlement'({ storage, secondDoor, attempt }) {
    const [id = ''] = await accept(storage, [note()])
    const job = await claimOne(storage)
    await start(storage, [job])
    const answers = await attempt(() => storage.settle([ended(job)]))
    if (answers !== null) assert.equal(answers[0]?.kind, 'settled')
    assert.equal((await secondDoor.jobs()).length, answers === null ? 1 : 0)
    assert.equal((await secondDoor.events()).length, answers === null ? 0 : 1)
    assert.equal((await storage.notifications.get(id))?.status, answers === null ? 'queued' : 'sent')
    const [again] = await storage.settle([ended(job)])
    assert.equal(again?.kind, answers === null ? 'settled' : 'stale')
    assert.equal((await secondDoor.events()).length, 1)
  },

  async 'a report'({ storage, secondDoor, attempt }) {
    await accept(storage, [note()])
    await deliver(storage, [sent({ providerMessageId: 'm-1' })])
    const fact = { type: 'opened', provider: 'smtp', providerMessageId: 'm-1' } as const
    const receipt = { provider: 'smtp', organizationId: null, dedupeKey: 'r-1', fact }
    const answers = await attempt(() => storage.recordReceipts([receipt]))
    if (answers !== null) assert.equal(answers[0]?.kind, 'recorded')
    assert.equal((await secondDoor.events()).length, answers === null ? 1 : 2)
    const [again] = await storage.recordReceipts([receipt])
    assert.equal(again?.kind, answers === null ? 'recorded' : 'duplicate')
    assert.equal((await secondDoor.events()).length, 2)
  },

  async 'a cancellation'({ storage, secondDoor, attempt }) {
    const [id = ''] = await accept(storage, [note()])
    const answer = await attempt(() => storage.notifications.cancel(id))
    if (answer !== null) assert.equal(answer.kind, 'cancelled')
    assert.equal((await secondDoor.jobs()).length, answer === null ? 1 : 0)
    assert.equal((await storage.notifications.cancel(id)).kind, answer === null ? 'cancelled' : 'ended')
  },

  async 'a reschedule'({ storage, attempt }) {
    const now = await timeOf(storage)
    const [id = ''] = await accept(storage, [note({ sendAt: now + 3_600_000 })])
    const [asked, dueAt] = [now + 7_200_000, async () => (await jobOf(storage, id))?.dueAt]
    const answer = await attempt(() => storage.notifications.reschedule(id, asked))
    if (answer !== null) assert.equal(answer.kind, 'rescheduled')
    assert.equal(await dueAt(), answer === null ? now + 3_600_000 : asked)
    assert.equal((await storage.notifications.timeline(id)).length, answer === null ? 1 : 2)
    assert.equal((await storage.notifications.reschedule(id, asked)).kind, 'rescheduled')
    assert.equal(await dueAt(), asked)
  },

  async 'a set of records'({ storage, attempt }) {
    const writes = [insertion({ name: 'a' }), insertion({ name: 'b' })]
    const answers = await attempt(() => storage.records.write([writes]))
    if (answers !== null) assert.equal(answers[0]?.kind, 'written')
    for (const { id } of writes) {
      assert.equal((await find(storage, itemKind, id)) === null, answers === null)
    }
    const [again] = await storage.records.write([writes])
    assert.equal(again?.kind, answers === null ? 'written' : 'taken')
  },
}

export function commitChecks(check: Check): void {
  for (const [what, run] of Object.entries(WAYS)) {
    check(`what is stored of ${what} whose commit fails is what it answers`, async (harness) => {
      await run({ ...harness, attempt: failing(harness) })
    })

    check(`${what} whose commit is not answered looks up what it stored`, async (harness) => {
      const { loseCommitAnswer } = harness
      if (loseCommitAnswer === undefined) throw new Absent(NO_LOST_ANSWER)
      await run({
        ...harness,
        async attempt(call) {
          const lost = loseCommitAnswer()
          const answer = await call()
          assert.ok(lost(), 'no answer has been lost')
          return answer
        },
      })
    })
  }

  check('the start of an attempt whose commit fails is not counted', async (harness) => {
    const { storage, secondDoor } = harness
    await accept(storage, [note()])
    const job = await claimOne(storage)
    const answer = await failing(harness)(() => start(storage, [job]))
    assert.notEqual(answer?.[0], false)
    assert.equal((await secondDoor.jobs())[0]?.attempts, answer === null ? 0 : 1)
    assert.deepEqual(await storage.renew([job], LEASE_MS), [true])
  })

  // It may be rejected: then the attempt is not made, and counts as lost.
  check('the start of an attempt whose commit is not answered is counted once', async (harness) => {
    const { storage, secondDoor, loseCommitAnswer } = harness
    if (loseCommitAnswer === undefined) throw new Absent(NO_LOST_ANSWER)
    await accept(storage, [note()])
    const job = await claimOne(storage)
    const lost = loseCommitAnswer()
    const answer = await start(storage, [job]).catch(unavailable)
    assert.ok(lost(), 'no answer has been lost')
    assert.notEqual(answer?.[0], false)
    assert.equal((await secondDoor.jobs())[0]?.attempts, 1)
  })
}

function failing({ failNextCommit }: StorageHarness): Wrong['attempt'] {
  if (failNextCommit === undefined) throw new Absent('The harness makes no commit fail.')
  return async (call) => {
    const failed = failNextCommit()
    const answer = await call().catch(unavailable)
    assert.ok(failed(), 'no commit has failed')
    return answer
  }
}

function unavailable(error: unknown): null {
  assert.ok(isNotifierError(error) && error.code === 'service_unavailable', String(error))
  return null
}
