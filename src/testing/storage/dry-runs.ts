import assert from 'node:assert/strict'
import type { ExpiringContents, ExpiringNotifications } from '../../core/ports/storage/expire.ts'
import type { Storage } from '../../core/ports/storage/storage.ts'
import { DEFAULT_ORGANIZATION } from '../../core/tenancy/organization.ts'
import { accept, claimOne, deliver, endpoint, note, notes, organization, sent, timeOf } from './fixtures.ts'
import type { Check, StorageHarness } from './harness.ts'

const MINUTE = 60_000
const WEEK = 604_800_000
const content = { subject: 'Order', body: 'Order 4711 is on its way.' } as const

type What = ExpiringNotifications | ExpiringContents

interface Total {
  readonly notifications: number
  readonly contents: number
  readonly deliveries: number
}

interface Run extends Total {
  readonly oldest: number | undefined
  readonly reached: string | undefined
}

async function run(storage: Storage, what: What, from?: string): Promise<Run> {
  const total = { notifications: 0, contents: 0, deliveries: 0 }
  let [after, reached] = [from, from]
  let oldest: number | undefined
  for (let steps = 0; ; steps += 1) {
    assert.ok(steps < 200, 'the run does not end')
    const answer = await storage.expire({ what, most: 2, after })
    total.notifications += answer.removed.notifications ?? 0
    total.contents += answer.removed.contents ?? 0
    total.deliveries += answer.removed.deliveries ?? 0
    if (answer.oldest !== undefined) oldest = Math.min(answer.oldest, oldest ?? answer.oldest)
    reached = answer.reached ?? reached
    if (answer.next === null) return { ...total, oldest, reached }
    after = answer.next
  }
}

/** Every row that a run can change. */
async function rowsOf({ storage, secondDoor }: StorageHarness, ids: readonly string[]): Promise<unknown> {
  return [
    await Promise.all(ids.map((id) => storage.notifications.get(id))),
    (await secondDoor.notifications()).length,
    (await secondDoor.events()).length,
    (await secondDoor.deliveries()).length,
    (await secondDoor.jobs()).length,
    await secondDoor.dependents(),
  ]
}

/** Checks that two dry runs count what a run then removes, and change nothing. Returns what it removed. */
async function compare(
  harness: StorageHarness,
  what: What,
  ids: readonly string[],
  from?: string,
): Promise<Run> {
  const { storage } = harness
  const before = await rowsOf(harness, ids)
  const dry = { ...what, dryRun: true }
  const counted = await run(storage, dry, from)
  assert.deepEqual(await run(storage, dry, from), counted, 'a second dry run counts something else')
  assert.deepEqual(await rowsOf(harness, ids), before, 'a dry run changes something')
  assert.deepEqual({ ...(await run(storage, what, from)), oldest: counted.oldest }, counted)
  const nothing = { notifications: 0, contents: 0, deliveries: 0, oldest: undefined }
  assert.deepEqual(await run(storage, dry, counted.reached), { ...nothing, reached: counted.reached })
  return counted
}

export function dryRunChecks(check: Check): void {
  check('a dry run of retention counts what a run then removes, and changes nothing', async (harness) => {
    const { storage, advance } = harness
    const organizationId = DEFAULT_ORGANIZATION
    const other = await organization(storage)
    const hook = await endpoint(storage)
    await endpoint(storage, { events: ['webhook.disabled'] })
    const next = { kind: 'end' } as const
    const since = await timeOf(storage)
    const ids = await accept(storage, notes(5))
    const until = await timeOf(storage)
    for (const id of ids) await deliver(storage, [sent({ providerMessageId: `m-${id}` })])
    const { jobId, token } = await claimOne(storage, hook.id)
    await storage.settle([{ kind: 'event', jobId, token, ended: 'failed', disable: 'gone', next }])
    const told = (await harness.secondDoor.deliveries()).find(({ state }) => state === 'pending')
    const job = await claimOne(storage, told?.endpointId)
    await storage.settle([{ kind: 'event', jobId: job.jobId, token: job.token, ended: 'delivered', next }])
    await accept(storage, notes(2), other)
    await deliver(storage)
    await advance(WEEK)
    const [fresh = ''] = await accept(storage, [note()])
    await deliver(storage)
    const sendAt = (await timeOf(storage)) + WEEK
    const [waiting = ''] = await accept(storage, [note({ sendAt })])
    await advance(MINUTE)
    const all = [...ids, fresh, waiting]
    const { oldest = 0, ...removed } = await compare(harness, { organizationId, olderThanMs: WEEK }, all)
    assert.deepEqual(removed, { notifications: 5, contents: 0, deliveries: 6, reached: undefined })
    assert.ok(oldest >= since && oldest <= until, 'the oldest is not the first accepted')
  })

  check('a dry run of contents counts each once, however many old events it has', async (harness) => {
    const { storage, advance } = harness
    const what = { organizationId: DEFAULT_ORGANIZATION, contentsOlderThanMs: WEEK }
    const since = await timeOf(storage)
    const ids = await accept(storage, notes(3, { content }))
    const until = await timeOf(storage)
    for (const [at, id] of ids.entries()) {
      await advance(MINUTE)
      await deliver(storage, [sent({ providerMessageId: `m-${at}` })])
      await advance(MINUTE)
      const about = { provider: 'smtp', providerMessageId: `m-${at}` } as const
      const opened = { type: 'opened', ...about } as const
      await storage.recordReceipts([{ provider: 'smtp', organizationId: null, dedupeKey: id, fact: opened }])
    }
    await advance(WEEK - MINUTE)
    const early = await compare(harness, what, ids)
    assert.equal(early.contents, 2)
    assert.ok((early.oldest ?? 0) >= since && (early.oldest ?? 0) <= until)
    await advance(MINUTE)
    assert.equal((await compare(harness, what, ids, early.reached)).contents, 1)
  })
}
