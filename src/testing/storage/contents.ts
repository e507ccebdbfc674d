import assert from 'node:assert/strict'
import { REMOVED, removedContent } from '../../core/notification/sensitive.ts'
import { DEFAULT_ORGANIZATION } from '../../core/tenancy/organization.ts'
import { accept, claimOne, ended, idOf, LANE, note, retried, sent, start } from './fixtures.ts'
import type { Check } from './harness.ts'

const attachments = [{ filename: 'a.txt', contentType: 'text/plain', content: 'SGk=' }]
const content = { sensitive: true, subject: 'Code', body: '123456', email: { attachments } } as const
const removal = removedContent(content)

export function contentChecks(check: Check): void {
  check('a settlement that ends the job replaces the content, attachments too', async ({ storage }) => {
    const [id = '', other = ''] = await accept(storage, [note({ content }), note({ content })])
    const first = await claimOne(storage)
    await start(storage, [first])
    await storage.settle([{ ...ended(first), content: removal } as ReturnType<typeof ended>])
    assert.deepEqual((await storage.notifications.get(id))?.content, removal)
    assert.deepEqual((await storage.notifications.get(other))?.content, content)
    assert.equal((await storage.notifications.get(id))?.status, 'sent')
  })

  check('a stale settlement replaces no content', async ({ storage }) => {
    const [id = ''] = await accept(storage, [note({ content })])
    const job = await claimOne(storage)
    await start(storage, [job])
    await storage.settle([retried(job, 0)])
    const late = { ...ended(job), content: removal } as ReturnType<typeof ended>
    assert.deepEqual(await storage.settle([late]), [{ kind: 'stale' }])
    assert.deepEqual((await storage.notifications.get(id))?.content, content)
  })

  check('a cancellation replaces the content, and one that comes too late does not', async ({ storage }) => {
    const [id = '', late = ''] = await accept(storage, [note({ content }), note({ content, lane: 'late' })])
    assert.equal((await storage.notifications.cancel(id, removal)).kind, 'cancelled')
    assert.deepEqual((await storage.notifications.get(id))?.content, removal)
    await start(storage, [await claimOne(storage, 'late')])
    assert.equal((await storage.notifications.cancel(late, removal)).kind, 'too_late')
    assert.deepEqual((await storage.notifications.get(late))?.content, content)
  })

  check('what lost its content is not retried, and counted', async ({ storage }) => {
    const kept = note({ content: { body: REMOVED } })
    const [id] = await accept(storage, [note({ content }), kept])
    for (const change of [{ content: removal }, {}]) {
      const job = await claimOne(storage)
      await start(storage, [job])
      const facts = [sent({ type: 'failed', code: 'provider_error' })]
      await storage.settle([{ ...ended(job, facts), ...change } as ReturnType<typeof ended>])
    }
    const asked = { lanes: { email: LANE }, most: 10, filter: { organizationId: DEFAULT_ORGANIZATION } }
    for (const dryRun of [true, false]) {
      const answer = await storage.notifications.retry({ ...asked, dryRun })
      assert.deepEqual([answer.retried, answer.contentRemoved], [1, 1])
    }
    assert.equal(idOf(await claimOne(storage)), kept.id)
    const named = { ...asked.filter, ids: [id ?? ''] }
    assert.equal((await storage.notifications.retry({ ...asked, filter: named })).contentRemoved, 1)
  })
}
