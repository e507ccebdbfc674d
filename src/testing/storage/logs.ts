import assert from 'node:assert/strict'
import type { LogEntry, LogFilter } from '../../core/ports/storage/logs.ts'
import type { PageRequest } from '../../core/ports/storage/page.ts'
import type { Storage } from '../../core/ports/storage/storage.ts'
import { encodeCursor } from '../../core/records/cursor.ts'
import { DEFAULT_ORGANIZATION } from '../../core/tenancy/organization.ts'
import {
  accept,
  claim,
  deliver,
  ended,
  NO_LABELS,
  note,
  notes,
  organization,
  page,
  readAll,
  sent,
} from './fixtures.ts'
import type { Check } from './harness.ts'

async function log(
  storage: Storage,
  filter: Partial<LogFilter> = {},
  request: Partial<PageRequest> = {},
): Promise<readonly LogEntry[]> {
  return (await storage.logs.list({ organizationId: DEFAULT_ORGANIZATION, ...filter }, page(request))).items
}

const brief = (entries: readonly LogEntry[]): string[] =>
  entries.map(({ notificationId, type }) => `${notificationId} ${type}`)

/** Delivers in three steps at different times: accept, `sent`, `delivered`. */
async function history(
  storage: Storage,
  advance: (ms: number) => Promise<void> | void,
  count: number,
): Promise<string[]> {
  const ids = await accept(storage, notes(count))
  await advance(1_000)
  const jobs = await claim(storage, count)
  await storage.settle(jobs.map((job) => ended(job)))
  await advance(1_000)
  await storage.recordReceipts(
    ids.map((id) => ({
      provider: 'smtp',
      organizationId: null,
      dedupeKey: id,
      notificationId: id,
      fact: { type: 'delivered', provider: 'smtp' },
    })),
  )
  return ids
}

export function logChecks(check: Check): void {
  check('the log has every event with what it concerns', async ({ storage }) => {
    const content = { template: { id: 'tpl_1', name: 'welcome', version: 1 }, variables: {} }
    const [id = ''] = await accept(storage, [note({ content, channel: 'push', to: 'token' })])
    const fact = sent({ durationMs: 5 })
    await deliver(storage, [fact])
    const [newest, oldest, ...others] = await log(storage)
    assert.deepEqual(others, [])
    const about = {
      notificationId: id,
      organizationId: DEFAULT_ORGANIZATION,
      ...{ channel: 'push', to: 'token', template: 'welcome', ...NO_LABELS },
    }
    const digits = id.slice('notif_'.length)
    assert.deepEqual(newest, {
      ...about,
      id: `log_${digits}_2`,
      sequence: 2,
      type: 'sent',
      status: 'sent',
      at: newest?.at,
      fact,
    })
    assert.deepEqual(oldest, {
      ...about,
      id: `log_${digits}_1`,
      sequence: 1,
      type: 'queued',
      status: 'queued',
      at: (await storage.notifications.get(id))?.createdAt,
      fact: null,
    })
  })

  check('the log is newest first over accepts and events', async (harness) => {
    const { storage } = harness
    const [first = ''] = await accept(storage, [note()])
    await harness.advance(1_000)
    await deliver(storage)
    await harness.advance(1_000)
    const [second = ''] = await accept(storage, [note()])
    await harness.advance(1_000)
    await deliver(storage)
    const entries = await log(storage)
    assert.deepEqual(brief(entries), [
      `${second} sent`,
      `${second} queued`,
      `${first} sent`,
      `${first} queued`,
    ])
    assert.ok(entries.every(({ at }, index) => at <= (entries[index - 1]?.at ?? at)))
  })

  check('events of one moment are in order of their notification and sequence', async ({ storage }) => {
    await accept(storage, notes(3))
    await storage.settle(
      (await claim(storage)).map((job) => ended(job, [sent(), sent({ type: 'delivered' })])),
    )
    const ids = (await log(storage)).map(({ id }) => id)
    assert.equal(new Set(ids).size, 9)
    for (const entry of await log(storage, { status: 'delivered' })) assert.equal(entry.sequence, 3)
  })

  check('the log of one organization is its own', async ({ storage }) => {
    const other = await organization(storage)
    const [id = ''] = await accept(storage, [note()], other)
    await deliver(storage)
    assert.deepEqual(await log(storage), [])
    assert.deepEqual(await log(storage, { notificationId: id }), [])
    assert.equal((await log(storage, { organizationId: other })).length, 2)
  })

  check('the log is filtered by channel, status and notification', async ({ storage }) => {
    const [a = '', b = '', c = ''] = await accept(storage, [
      note(),
      note({ channel: 'sms' }),
      note({ sendAt: 32_000_000_000_000 }),
    ])
    await deliver(storage)
    assert.deepEqual(brief(await log(storage, { channel: 'sms' })), [`${b} queued`])
    assert.deepEqual(brief(await log(storage, { status: 'sent' })), [`${a} sent`])
    assert.deepEqual(brief(await log(storage, { status: 'queued' })), [`${b} queued`, `${a} queued`])
    assert.deepEqual(brief(await log(storage, { status: 'scheduled' })), [`${c} scheduled`])
    assert.deepEqual(brief(await log(storage, { notificationId: a })), [`${a} sent`, `${a} queued`])
    assert.deepEqual(brief(await log(storage, { notificationId: a, status: 'queued' })), [`${a} queued`])
  })

  check('pages of the log, by offset and by cursor, cover it once', async (harness) => {
    const { storage } = harness
    await history(storage, (ms) => harness.advance(ms), 20)
    const whole = (await log(storage)).map(({ id }) => id)
    assert.equal(new Set(whole).size, 60)
    const byOffset: string[] = []
    for (let offset = 0; offset < 60; offset += 7) {
      byOffset.push(...(await log(storage, {}, { limit: 7, offset })).map(({ id }) => id))
    }
    assert.deepEqual(byOffset, whole)
    for (const limit of [1, 7, 20, 59, 60]) {
      const read = await readAll(
        (request) => storage.logs.list({ organizationId: DEFAULT_ORGANIZATION }, request),
        limit,
      )
      assert.deepEqual(
        read.map(({ id }) => id),
        whole,
        `pages of ${limit}`,
      )
    }
  })

  check('what is logged while the log is read neither repeats nor hides anything', async (harness) => {
    const { storage } = harness
    await history(storage, (ms) => harness.advance(ms), 20)
    const whole = (await log(storage)).map(({ id }) => id)
    const read = await readAll(
      (request) => storage.logs.list({ organizationId: DEFAULT_ORGANIZATION }, request),
      7,
      async () => {
        await harness.advance(10)
        await history(storage, (ms) => harness.advance(ms), 2)
      },
    )
    assert.deepEqual(
      read.map(({ id }) => id),
      whole,
    )
  })

  check('what is removed while the log is read neither repeats nor hides anything', async (harness) => {
    const { storage } = harness
    await history(storage, (ms) => harness.advance(ms), 5)
    await harness.advance(60_000)
    const ids = new Set(await history(storage, (ms) => harness.advance(ms), 20))
    const kept = (await log(storage)).filter(({ notificationId }) => ids.has(notificationId))
    const read = await readAll(
      (request) => storage.logs.list({ organizationId: DEFAULT_ORGANIZATION }, request),
      7,
      async () => {
        const olderThanMs = 30_000
        await storage.expire({ what: { organizationId: DEFAULT_ORGANIZATION, olderThanMs }, most: 100 })
      },
    )
    assert.deepEqual(
      read.map(({ id }) => id),
      kept.map(({ id }) => id),
    )
  })

  check('a cursor of numbers that no entry has is answered', async (harness) => {
    const { storage } = harness
    await history(storage, (ms) => harness.advance(ms), 2)
    const most = Number.MAX_SAFE_INTEGER
    const pages = await Promise.all(
      [{}, { status: 'sent' } as const].map((filter) =>
        log(storage, filter, { cursor: encodeCursor([most, most, most]) }).catch(({ code }) => code),
      ),
    )
    // A storage whose cursors have another form may refuse it.
    for (const found of pages) assert.ok(found === 'invalid_parameter' || Array.isArray(found))
  })

  check('a cursor of another list is refused by the log', async ({ storage }) => {
    await assert.rejects(
      storage.logs.list({ organizationId: DEFAULT_ORGANIZATION }, page({ cursor: '??' })),
      {
        code: 'invalid_parameter',
      },
    )
  })
}
