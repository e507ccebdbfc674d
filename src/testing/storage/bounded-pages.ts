import assert from 'node:assert/strict'
import type { Page, PageRequest } from '../../core/ports/storage/page.ts'
import { DEFAULT_ORGANIZATION } from '../../core/tenancy/organization.ts'
import { accept, claim, ended, endpoint, idOf, note, page, readAll, start } from './fixtures.ts'
import type { Check, StorageHarness } from './harness.ts'

/** Rows between matches in a storage that examines all. */
const FAR = 3_000

const scope = { organizationId: DEFAULT_ORGANIZATION }
const labels = { category: 'cat_1' }
const RARE = { ...labels, channel: 'sms', to: '+4917' } as const

/**
 * Stores matches far apart: the newest and the oldest row, and where pages end that examine a limited number of rows.
 * Returns their ids, newest first.
 */
async function acceptFarApart({ storage, advance, examines = FAR }: StorageHarness): Promise<string[]> {
  const places = new Set([0, examines - 1, examines, examines + 1, 2 * examines - 1, 2 * examines])
  const oldestFirst = Array.from({ length: 2 * examines + 1 }, (_, age) =>
    note(places.has(2 * examines - age) ? RARE : labels),
  )
  // The second page begins with another moment, the third one does not.
  await accept(storage, oldestFirst.slice(0, examines + 1))
  await advance(1)
  await accept(storage, oldestFirst.slice(examines + 1))
  const matches = oldestFirst.filter(({ to }) => to === RARE.to)
  return matches.map(({ id }) => id).reverse()
}

/** Asserts that pages of any size hold these rows, each once, in order. */
async function assertFound<Row>(
  filter: object,
  list: (request: PageRequest) => Promise<Page<Row>>,
  rowId: (row: Row) => string,
  ids: readonly string[],
): Promise<void> {
  for (const limit of [10, 2, 1]) {
    const found = await readAll(list, limit)
    assert.deepEqual({ filter, limit, ids: found.map(rowId) }, { filter, limit, ids })
  }
}

export function boundedPageChecks(check: Check): void {
  check('what lies far apart is found by the cursor, each once, wherever a page ends', async (harness) => {
    const { storage } = harness
    const ids = await acceptFarApart(harness)
    const lists = [
      { to: RARE.to },
      { toPrefix: '+49' },
      { channel: 'sms', status: 'queued' },
      { ...labels, to: RARE.to },
    ] as const
    for (const filter of lists) {
      const list = (request: PageRequest) => storage.notifications.list({ ...scope, ...filter }, request)
      await assertFound(filter, list, ({ id }) => id, ids)
      const skipped = await list(page({ offset: 1 })).then(
        ({ items }) => items[0]?.id,
        ({ code }: { code: string }) => code,
      )
      assert.ok(skipped === 'invalid_parameter' || skipped === ids[1], String(skipped))
    }
    for (const filter of [{ channel: 'sms' }, { ...labels, channel: 'sms' }]) {
      const list = (request: PageRequest) => storage.logs.list({ ...scope, ...filter }, request)
      await assertFound(filter, list, ({ notificationId }) => notificationId, ids)
    }
  })

  check('what failed far apart is found by the cursor, wherever a page ends', async (harness) => {
    const { storage } = harness
    const { id: endpointId } = await endpoint(storage)
    const ids = await acceptFarApart(harness)
    const all = 2 * (harness.examines ?? FAR) + 1
    const jobs = await claim(storage, all)
    await start(storage, jobs)
    const failed = { type: 'failed', attempt: 1, provider: 'smtp', code: 'provider_error' } as const
    await storage.settle(jobs.map((job) => ended(job, [failed])))
    const filter = { status: 'failed', to: RARE.to } as const
    await assertFound(
      filter,
      (request) => storage.notifications.list({ ...scope, ...filter }, request),
      ({ id }) => id,
      ids,
    )
    const entries = { status: 'failed', channel: 'sms' } as const
    await assertFound(
      entries,
      (request) => storage.logs.list({ ...scope, ...entries }, request),
      ({ notificationId }) => notificationId,
      ids,
    )

    const posts = await claim(storage, all, endpointId)
    const matches = new Set(ids.map((id) => `evt_${id.slice('notif_'.length)}_2`))
    await start(storage, posts, endpointId)
    await storage.settle(
      posts.map((job) => ({
        ...{ kind: 'event', jobId: job.jobId, token: job.token, next: { kind: 'end' } },
        ended: matches.has(idOf(job) ?? '') ? 'failed' : 'delivered',
      })),
    )
    const state = 'failed'
    await assertFound(
      { state },
      (request) => storage.webhookEndpoints.deliveries({ endpointId, state }, request),
      ({ eventId }) => eventId,
      [...matches],
    )
  })
}
