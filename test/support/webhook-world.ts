import { expect, onTestFinished } from 'vitest'
import { createSecretBox } from '../../src/core/access/secrets.ts'
import { createAudit } from '../../src/core/audit/audit.ts'
import type { HttpResult } from '../../src/core/channels/http-answer.ts'
import { createEngine } from '../../src/core/delivery/engine.ts'
import { createDeadline } from '../../src/core/loop/deadline.ts'
import { createProcessor } from '../../src/core/loop/processor.ts'
import { silentLogger } from '../../src/core/observe/silent-logger.ts'
import type { Clock } from '../../src/core/ports/clock.ts'
import type { PostRequest } from '../../src/core/ports/outgoing.ts'
import type { Storage } from '../../src/core/ports/storage/storage.ts'
import { createIdGenerator } from '../../src/core/records/ids.ts'
import { createRecordStores } from '../../src/core/records/record-stores.ts'
import { binding } from '../../src/core/tenancy/per-tenant.ts'
import { createPlanFinder } from '../../src/core/tenancy/plan-of.ts'
import { UNLIMITED } from '../../src/core/tenancy/plans.ts'
import { createWebhookEndpoints } from '../../src/features/webhook-events/service.ts'
import { webhookSigner } from '../../src/outgoing/webhook-signer.ts'
import type { Tenant } from '../../src/tenant.ts'
import { fakeClock } from '../../src/testing/fake-clock.ts'
import { recordingProvider } from '../../src/testing/recording-provider.ts'
import { accept, deliver, note } from '../../src/testing/storage/fixtures.ts'
import { compiledOver } from './compiled.ts'
import { engineParts } from './engine-parts.ts'
import { inMemory } from './in-memory.ts'
import { observation } from './observation.ts'

export const HOUR = 3_600_000
export const DAY = 24 * HOUR
export const URL = 'https://example.com/hook'
export const STORAGE_AWAY = new Error('The storage is away.')

export const answered = (status: number): HttpResult => ({
  kind: 'answered',
  status,
  headers: {},
  body: `said ${status}`,
  durationMs: 1.4,
})

/**
 * The webhook endpoints of an organization, and an engine that posts to them. `emit` delivers one notification.
 *
 * @param wrap methods that replace those of the storage
 */
export async function webhookWorld(wrap: (inner: Storage, clock: Clock) => Partial<Storage> = () => ({})) {
  const clock = fakeClock()
  const inner: Storage = inMemory(clock)
  const storage: Storage = { ...inner, ...wrap(inner, clock) }
  const stores = createRecordStores(storage.records, () => null)
  const ids = createIdGenerator({
    now: clock.now,
    randomBytes: (size) => crypto.getRandomValues(new Uint8Array(size)),
  })
  const plans = createPlanFinder(stores, { free: UNLIMITED }, clock)
  const posts: PostRequest[] = []
  const world = { answer: (_request: PostRequest): HttpResult | Promise<HttpResult> => answered(200) }
  const box = createSecretBox(['a secret of a test'])
  const parts = {
    storage,
    audit: createAudit(ids, stores),
    ids,
    organizations: plans,
    signer: webhookSigner(),
    clock,
    ...observation(),
    box: () => box,
    outgoing: {
      async post(request: PostRequest) {
        posts.push(request)
        return world.answer(request)
      },
      head: () => Promise.reject(new Error('Events are posted.')),
      refuses: (url: string) => (url.includes('127.0.0.1') ? 'A private address.' : null),
      async close() {},
    },
  }
  const processor = createProcessor(clock)
  const engine = createEngine({
    ...parts,
    ...engineParts(recordingProvider(), clock),
    processor,
    compiled: compiledOver(storage, processor),
    logger: silentLogger(),
    findAddress: () => undefined,
    leaseMs: 60_000,
    pollMs: DAY,
    random: () => 0.5,
    emit: () => {},
    onError: (error) => {
      if (error !== STORAGE_AWAY) throw error
    },
  })
  await storage.start({ kinds: stores.kinds })
  engine.start()
  onTestFinished(async () => {
    await engine.stop(createDeadline(0, clock))
    await storage.stop()
  })
  const tenants = createWebhookEndpoints({ ...parts, wake: engine.wake })
  const webhooks = binding<Tenant['webhooks']>(tenants)('org_default')
  async function emit(): Promise<void> {
    await accept(storage, [note()])
    await deliver(storage)
    engine.wake()
    await clock.advance(0)
  }
  return { clock, storage, tenants, webhooks, posts, world, emit, signer: parts.signer }
}

/** The parts of a request that a delivery shows. */
export function recordOf(post: PostRequest | undefined): object | undefined {
  if (post === undefined) return undefined
  const { 'webhook-signature': signature, ...headers } = post.headers
  expect(signature).toMatch(/^v1,/)
  return { url: post.url, headers }
}
