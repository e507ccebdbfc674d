import assert from 'node:assert/strict'
import { expiredContent } from '../../core/notification/sensitive.ts'
import type { ExpireAnswer } from '../../core/ports/storage/expire.ts'
import type { Storage } from '../../core/ports/storage/storage.ts'
import { DEFAULT_ORGANIZATION } from '../../core/tenancy/organization.ts'
import {
  accept,
  claim,
  deliver,
  ended,
  LANE,
  note,
  notes,
  organization,
  page,
  sent,
  TEN,
  timeOf,
} from './fixtures.ts'
import type { Check } from './harness.ts'

const MINUTE = 60_000
const WEEK = 604_800_000
const attachments = [{ filename: 'a.txt', contentType: 'text/plain', content: 'SGk=' }]
const content = { subject: 'Order', body: 'Order 4711 is on its way.', parts: { attachments } } as const

/** What stays of it is long: the versions of many partials. */
const partials = Array.from({ length: 50 }, (_, at) => `partial_${`${at}`.padStart(40, '0')}`)
const ofTemplate = {
  template: { id: 'tpl_1', name: 'order', version: 1, texts: { partials } },
  variables: { order: 4711 },
} as const

interface Removed {
  readonly contents: number
  /** Where the next run begins. Undefined: where this one began. */
  readonly reached: string | undefined
}

async function removeContents(
  storage: Storage,
  {
    organizationId = DEFAULT_ORGANIZATION,
    most = 100,
    after,
  }: { readonly organizationId?: string; readonly most?: number; readonly after?: string | undefined } = {},
): Promise<Removed> {
  let [contents, from] = [0, after]
  let reached: string | undefined
  for (let steps = 0; ; steps += 1) {
    assert.ok(steps < 200, 'the removal of contents does not end')
    const what = { organizationId, contentsOlderThanMs: WEEK }
    const answer: ExpireAnswer = await storage.expire({ what, most, after: from })
    assert.ok((answer.removed.contents ?? 0) <= most)
    contents += answer.removed.contents ?? 0
    reached = answer.reached ?? reached
    if (answer.next === null) return { contents, reached }
    from = answer.next
  }
}

export function expiredContentChecks(check: Check): void {
  check('old contents go, and their notifications stay', async ({ storage, advance }) => {
    const other = await organization(storage)
    const [old = ''] = await accept(storage, [note({ content })])
    await deliver(storage, [sent({ providerMessageId: 'm-1' })])
    const [foreign = ''] = await accept(storage, [note({ content })], other)
    await deliver(storage)
    await advance(WEEK - MINUTE)
    const [fresh = ''] = await accept(storage, [note({ content })])
    await deliver(storage)
    const sendAt = (await timeOf(storage)) + WEEK
    const [waiting = ''] = await accept(storage, [note({ content, sendAt })])
    const before = await storage.notifications.get(old)
    const timeline = await storage.notifications.timeline(old)
    assert.equal((await removeContents(storage)).contents, 0)
    await advance(MINUTE)
    const since = await timeOf(storage)
    assert.equal((await removeContents(storage)).contents, 1)
    const after = await storage.notifications.get(old)
    const removedAt = after?.content.removedAt ?? 0
    assert.ok(removedAt >= since && removedAt <= (await timeOf(storage)))
    assert.deepEqual(after, { ...before, content: expiredContent(content, removedAt) })
    assert.deepEqual(await storage.notifications.timeline(old), timeline)
    for (const id of [foreign, fresh, waiting])
      assert.deepEqual((await storage.notifications.get(id))?.content, content)
    const { items } = await storage.notifications.list({ organizationId: DEFAULT_ORGANIZATION }, page())
    assert.deepEqual(items.map(({ id }) => id).sort(), [old, fresh, waiting].sort())
    const log = await storage.logs.list({ organizationId: DEFAULT_ORGANIZATION }, page())
    assert.ok(log.items.some(({ notificationId }) => notificationId === old))
  })

  check(
    'contents of what waits, or has a younger event, go when that is old',
    async ({ storage, advance }) => {
      const [opened = '', retried = ''] = await accept(storage, [note({ content }), note({ content })])
      const [first, second] = await claim(storage, 2)
      assert.ok(first !== undefined && second !== undefined)
      await storage.settle([ended(first, [sent({ providerMessageId: 'm-o' })])])
      await storage.settle([ended(second, [sent({ type: 'failed', code: 'provider_error' })])])
      await advance(WEEK)
      const fact = { type: 'opened', provider: 'smtp', providerMessageId: 'm-o' } as const
      await storage.recordReceipts([{ provider: 'smtp', organizationId: null, dedupeKey: 'r-1', fact }])
      const filter = { organizationId: DEFAULT_ORGANIZATION, ids: [retried] }
      const asked = { filter, lanes: { email: LANE }, most: 1 }
      assert.equal((await storage.notifications.retry(asked)).retried, 1)
      await advance(WEEK - MINUTE)
      const { contents, reached } = await removeContents(storage, { most: 1 })
      assert.equal(contents, 0)
      assert.ok(reached !== undefined, 'the next run would look at the same events again')
      await advance(MINUTE)
      const later = await removeContents(storage, { after: reached })
      assert.equal(later.contents, 1)
      assert.equal((await storage.notifications.get(opened))?.content.removed, true)
      assert.deepEqual((await storage.notifications.get(retried))?.content, content)
      await deliver(storage)
      await advance(WEEK)
      const last = await removeContents(storage, { after: later.reached })
      assert.equal(last.contents, 1)
      assert.equal((await storage.notifications.get(retried))?.content.removed, true)
      assert.deepEqual(await removeContents(storage, { after: last.reached }), {
        contents: 0,
        reached: undefined,
      })
    },
  )

  check('what lost its content by age is not retried', async ({ storage, advance }) => {
    const ids = await accept(storage, [note({ content }), note({ content: ofTemplate })])
    const jobs = await claim(storage, ids.length)
    await storage.settle(jobs.map((job) => ended(job, [{ type: 'failed', code: 'provider_error' }])))
    await advance(WEEK)
    assert.equal((await removeContents(storage)).contents, ids.length)
    const filter = { organizationId: DEFAULT_ORGANIZATION }
    const answer = await storage.notifications.retry({ filter, lanes: { email: LANE }, most: 2 })
    assert.deepEqual([answer.retried, answer.contentRemoved], [0, ids.length])
    assert.equal((await removeContents(storage)).contents, 0, 'a removed content is removed again')
  })

  check('ten removals of contents and retries in a race agree on each', async ({ storage, advance }) => {
    const ids = await accept(storage, notes(30, { content }))
    const jobs = await claim(storage, 30)
    await storage.settle(jobs.map((job) => ended(job, [{ type: 'failed', code: 'provider_error' }])))
    await advance(WEEK)
    const filter = { organizationId: DEFAULT_ORGANIZATION }
    const retry = (): Promise<{ retried: number }> =>
      storage.notifications.retry({ filter, lanes: { email: LANE }, most: 10 })
    const retries = [retry(), retry()]
    const answers = await Promise.all(TEN.map(() => removeContents(storage, { most: 7 })))
    const removed = answers.reduce((sum, { contents }) => sum + contents, 0)
    const retried = (await Promise.all(retries)).reduce((sum, answer) => sum + answer.retried, 0)
    const found = await Promise.all(ids.map((id) => storage.notifications.get(id)))
    assert.equal(found.filter((each) => each?.content.removed === true).length, removed)
    const waiting = found.filter((each) => each?.status === 'queued')
    assert.equal(waiting.length, retried)
    assert.ok(waiting.every((each) => each?.content.removed === undefined))
  })
}
