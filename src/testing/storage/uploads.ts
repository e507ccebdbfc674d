import assert from 'node:assert/strict'
import { type UploadValue, uploadKind } from '../../core/accept/upload.ts'
import { removedContent } from '../../core/notification/sensitive.ts'
import type { AcceptAnswer, AcceptRequest } from '../../core/ports/storage/accept.ts'
import type { Storage } from '../../core/ports/storage/storage.ts'
import { DEFAULT_ORGANIZATION } from '../../core/tenancy/organization.ts'
import { Absent } from '../test-api.ts'
import { accepting } from './caller-transactions.ts'
import { accept, claimOne, ended, note, organization, start, TEN, unique } from './fixtures.ts'
import type { Check } from './harness.ts'
import { find, outcome, write } from './record-fixtures.ts'

const WEEK = 7 * 86_400_000
const value: UploadValue = { filename: 'a.pdf', contentType: 'application/pdf', size: 1, complete: true }
const kept = 'named 0'
const removed = 'written'

async function upload(storage: Storage, organizationId: string = DEFAULT_ORGANIZATION): Promise<string> {
  const id = `att_${unique()}`
  await write(storage, { kind: uploadKind, do: 'insert', id, organizationId, value })
  return id
}

const remove = (storage: Storage, id: string): Promise<string> =>
  outcome(storage, { kind: uploadKind, do: 'remove', id, unlessNamed: true })

function naming(...uploads: readonly string[]): AcceptRequest {
  return { organizationId: DEFAULT_ORGANIZATION, notifications: [note({ uploads })] }
}

const codeOf = (answer: AcceptAnswer | undefined): string | undefined =>
  answer?.kind === 'failed' ? answer.error.code : answer?.kind

/** Checks that an upload stays as long as a stored notification names it. */
export function uploadChecks(check: Check): void {
  check('an upload that a notification names is not removed, until the notification is', async (harness) => {
    const { storage, advance } = harness
    const [id, other] = [await upload(storage), await upload(storage)]
    await accept(storage, [note({ uploads: [id, other] }), note({ uploads: [id] }), note()])
    assert.deepEqual([await remove(storage, id), await remove(storage, other)], [kept, kept])
    for (const _ of [1, 2, 3]) {
      const job = await claimOne(storage)
      await start(storage, [job])
      await storage.settle([ended(job)])
    }
    assert.equal(await remove(storage, id), kept)
    assert.ok(await find(storage, uploadKind, id))
    await advance(WEEK + 1)
    const what = { organizationId: DEFAULT_ORGANIZATION, olderThanMs: WEEK }
    assert.equal((await storage.expire({ what, most: 100 })).removed.notifications, 3)
    assert.deepEqual([await remove(storage, id), await remove(storage, other)], [removed, removed])
    assert.equal(await find(storage, uploadKind, id), null)
  })

  check('a refused removal of an upload leaves its set undone', async ({ storage }) => {
    const [id, free] = [await upload(storage), await upload(storage)]
    await accept(storage, [note({ uploads: [id] })])
    const removal = { kind: uploadKind, do: 'remove', unlessNamed: true } as const
    const set = [
      { ...removal, id: free },
      { ...removal, id },
    ]
    assert.equal(await outcome(storage, ...set), 'named 1')
    assert.ok(await find(storage, uploadKind, free))
  })

  check('a content that is removed names no upload any more', async ({ storage }) => {
    const [settled, cancelled] = [await upload(storage), await upload(storage)]
    const content = { sensitive: true, body: '123456' } as const
    const removal = removedContent(content)
    const sendAt = 4_000_000_000_000
    const late = note({ content, uploads: [cancelled], sendAt })
    await accept(storage, [note({ content, uploads: [settled] }), late])
    const job = await claimOne(storage)
    await start(storage, [job])
    await storage.settle([{ ...ended(job), content: removal } as ReturnType<typeof ended>])
    assert.deepEqual([await remove(storage, settled), await remove(storage, cancelled)], [removed, kept])
    await storage.notifications.cancel(late.id, removal)
    assert.equal(await remove(storage, cancelled), removed)
  })

  check('a content that has expired names no upload any more', async ({ storage, advance }) => {
    const id = await upload(storage)
    await accept(storage, [note({ uploads: [id] })])
    const job = await claimOne(storage)
    await start(storage, [job])
    await storage.settle([ended(job)])
    await advance(1)
    assert.deepEqual(await remove(storage, id), kept)
    const what = { organizationId: DEFAULT_ORGANIZATION, contentsOlderThanMs: 1 }
    assert.equal((await storage.expire({ what, most: 10 })).removed.contents, 1)
    assert.equal(await remove(storage, id), removed)
  })

  check('an accept that names an upload which does not exist is refused alone', async ({ storage }) => {
    const acme = await organization(storage)
    const [own, foreign] = [await upload(storage), await upload(storage, acme)]
    const name = { organizationId: DEFAULT_ORGANIZATION, operation: 'send', key: `k-${unique()}` } as const
    const idempotency = { ...name, fingerprint: 'f', result: '{}', ttlMs: 60_000 }
    const asked = [naming(), naming(own), naming(own, 'att_none'), naming(foreign), naming(own)]
    const refused = 'unknown_attachment'
    const all = ['accepted', 'accepted', refused, refused, 'accepted']
    assert.deepEqual((await storage.accept(asked)).map(codeOf), all)
    const keyed = { ...naming('att_none'), idempotency }
    const quota = { period: '2026-01', limit: 10 }
    assert.deepEqual((await storage.accept([naming(own), { ...keyed, quota }])).map(codeOf), [
      'accepted',
      refused,
    ])
    assert.equal(await storage.quotaUsed(DEFAULT_ORGANIZATION, quota.period), 0)
    assert.deepEqual((await storage.accept([{ ...naming(own), idempotency }])).map(codeOf), ['accepted'])
    assert.equal(await remove(storage, foreign), removed)
  })

  check('of an accept and a removal in a race, one is refused', async (harness) => {
    const { storage, another } = harness
    const other = (await another?.()) ?? storage
    if (other !== storage) await other.start({ kinds: [uploadKind] })
    try {
      for (const index of TEN) {
        const id = await upload(storage)
        const early = index % 2 === 0 ? remove(other, id) : null
        const accepting = storage.accept([naming(id)])
        const removing = early ?? remove(other, id)
        const answers = [codeOf((await accepting)[0]), await removing]
        const found = (await find(storage, uploadKind, id)) !== null
        const right = found ? ['accepted', kept] : ['unknown_attachment', removed]
        assert.deepEqual(answers, right)
      }
    } finally {
      if (other !== storage) await other.stop()
    }
  })

  check('in a transaction of the caller’s, uploads are named as by an accept', async (harness) => {
    const { storage } = harness
    if (harness.transactions === undefined)
      throw new Absent('The storage joins no transaction of its caller.')
    const transactions = accepting(harness.transactions)
    const id = await upload(storage)
    const gone = await transactions.commit(naming(id, 'att_none'), 'a row')
    assert.equal(codeOf(gone.answer), 'unknown_attachment')
    await transactions.rollBack(naming(id), 'a row')
    const other = await upload(storage)
    assert.equal(await remove(storage, other), removed)
    assert.equal(codeOf((await transactions.commit(naming(id), 'a row')).answer), 'accepted')
    assert.equal(await remove(storage, id), kept)
    const quota = { period: '2026-01', limit: 1 }
    const two = { ...naming(id), notifications: [note({ uploads: [id] }), note({ uploads: [id] })] }
    const some = await transactions.commit({ ...two, quota }, 'a row')
    assert.ok(some.answer.kind === 'accepted')
    assert.equal(some.answer.admitted, 1)
  })
}
