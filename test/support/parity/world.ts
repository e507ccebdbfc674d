import type { HttpApiOptions } from '../../../adapters/http/node.ts'
import type { Served } from '../../../src/core/lifecycle/notifier-internals.ts'
import type { Route } from '../../../src/core/rest/route.ts'
import { createNotifier, type Notifier, type Permission } from '../../../src/index.ts'
import { type ServedNotifier, servedNotifier } from '../../../src/served-notifier.ts'
import { faultLogger } from '../fault-logger.ts'
import { type Answer, type Call, call } from '../http-client.ts'
import { inMemory } from '../in-memory.ts'
import { withKnownPepper } from '../person-hashes.ts'
import type { Case } from './case.ts'
import type { Harness, Mount } from './harness.ts'

/** Signs the links of every world, so that cases can make some. */
export const SECRET = 'a secret of all worlds, long enough'

const PEOPLE: Readonly<Record<string, Record<string, string>>> = {
  'user:42': { email: 'ada@example.com', sms: '+14155550123' },
}

const START = Date.UTC(2026, 0, 15, 12)

/** One host with a notifier of its own. Two worlds that get the same requests have the same history. */
export interface World {
  readonly url: string
  readonly port: number
  readonly prefix: string
  readonly notifier: Notifier
  readonly clock: { now(): number; advance(ms: number): void }
  readonly keys: Readonly<
    Record<'full' | 'read' | 'expired' | 'restricted' | 'small' | 'quota' | 'slot' | 'operator', string>
  >
  /** Ids by the names that cases gave them. */
  readonly saved: Map<string, string>
  readonly errors: unknown[]
  /** What was reported as a fault of ours. */
  readonly faults: unknown[]
  readonly active: { count: number }
  /** Requests that were admitted and not released, and lists of templates that were asked for. */
  readonly admitted: { count: number; lists: number }
  close(): Promise<void>
}

export interface WorldOptions extends Partial<Pick<Mount, 'prefix' | 'parser'>> {
  readonly http?: HttpApiOptions
  /** Beside those of the REST API. */
  readonly routes?: readonly Route<object>[]
  /** Waited for when a request has been admitted, and before a send begins. */
  readonly gate?: (place: 'admitted' | 'send') => Promise<void> | undefined
}

export async function createWorld(harness: Harness, options: WorldOptions = {}): Promise<World> {
  const { prefix = '', parser = 'none', gate, routes = [] } = options
  const clock = steppedClock()
  const plan = {
    requests: null,
    notificationsPerHour: null,
    concurrentRequests: null,
    notificationsPerMonth: null,
    storedBytes: null,
  }
  const faults: unknown[] = []
  const notifier = createNotifier({
    clock,
    storage: withKnownPepper(inMemory(clock)),
    secret: SECRET,
    publicUrl: 'https://api.example.com',
    logger: faultLogger(faults),
    channels: {
      email: {
        name: 'mail',
        channel: 'email',
        send: async () => ({ kind: 'accepted' }),
        // Answers with what it saw, so that every framework must hand over the same.
        parseReceipts: async ({ method, url, headers, body }) =>
          headers['x-signature'] === 'right, again'
            ? {
                kind: 'receipts',
                receipts: [],
                answer: {
                  contentType: 'text/xml',
                  body: `${method} ${new URL(url).search} ${headers['content-type']} ${Buffer.from(body).toString('hex')}`,
                },
              }
            : { kind: 'refused', why: 'signature', message: 'Wrong.' },
        confirmReceipts: ({ method, url }) =>
          url.endsWith('token=right') ? { contentType: 'text/plain', body: `${method} ${url}` } : null,
      },
      sms: { name: 'sms', send: async () => ({ kind: 'accepted' }) },
    },
    recipients: { resolve: (ids) => new Map(ids.map((id) => [id, { channels: PEOPLE[id] ?? {} }])) },
    plans: {
      small: { ...plan, requests: { limit: 2, windowMs: 60_000 } },
      quota: { ...plan, notificationsPerMonth: 1 },
      slot: { ...plan, concurrentRequests: 1 },
    },
  })
  // What is stored stays as it is, so that every world answers alike.
  await notifier.start({ deliver: false })
  const keys = await createKeys(notifier, clock)

  const errors: unknown[] = []
  const active = { count: 0 }
  const admitted = { count: 0, lists: 0 }
  const host = await harness.start({
    notifier: watched(notifier, admitted, gate, routes),
    prefix,
    parser,
    errors,
    active,
    http: {
      https: 'allow-loopback',
      trustedProxies: ['loopback'],
      maxBodyBytes: 50_000,
      maxBatchBytes: 200_000,
      ...options.http,
    },
  })
  return {
    url: host.url,
    port: Number(new URL(host.url).port),
    prefix,
    notifier,
    clock,
    keys,
    errors,
    faults,
    active,
    admitted,
    saved: new Map(),
    async close() {
      await host.close()
      await notifier.stop()
    },
  }
}

/** Sends one case and gives the answer as it came. */
export async function send(
  world: World,
  { call: given, key = 'full', host, before, save }: Case,
): Promise<Answer> {
  await before?.(world)
  world.clock.advance(1000)
  const request: Call = typeof given === 'function' ? given(world) : given
  const authorization = key === null ? {} : { authorization: `Bearer ${world.keys[key]}` }
  const path =
    request.path.startsWith('http') || (host && key === null) ? request.path : world.prefix + request.path
  const answer = await call(world.port, {
    ...request,
    path: path === '' ? '/' : path,
    headers: { ...authorization, ...request.headers },
  })
  if (save !== undefined) world.saved.set(save, String(answer.json?.id))
  return answer
}

async function createKeys(notifier: Notifier, clock: World['clock']): Promise<World['keys']> {
  for (const plan of ['small', 'quota', 'slot']) {
    await notifier.organizations.create({ id: `org_${plan}`, name: plan, plan })
  }
  const key = async (permission: Permission, organizationId = 'org_default', more = {}): Promise<string> =>
    (await notifier.organization(organizationId).apiKeys.create({ name: 'test', permission, ...more })).secret
  const keys = {
    full: await key('Full Access'),
    read: await key('Read Only'),
    expired: await key('Full Access', undefined, { expiresAt: new Date(clock.now() + 500) }),
    restricted: await key('Full Access', undefined, { allowedIps: ['10.0.0.0/8'] }),
    small: await key('Full Access', 'org_small'),
    quota: await key('Full Access', 'org_quota'),
    slot: await key('Full Access', 'org_slot'),
    operator: (await notifier.operatorKeys.create({ name: 'test', permission: 'Full Access' })).secret,
  }
  clock.advance(1000)
  return keys
}

/** The notifier with a fault in it, a gate before sends, and a count of what was admitted and not released. */
function watched(
  notifier: Notifier,
  admitted: World['admitted'],
  gate: WorldOptions['gate'],
  routes: readonly Route<object>[],
): Served {
  const served = servedNotifier(notifier)
  const { tenants, limits } = served
  const engine: ServedNotifier = {
    ...served,
    routes: [...served.routes, ...routes],
    tenants: {
      ...tenants,
      async send(...input) {
        await gate?.('send')
        return tenants.send(...input)
      },
      templates: {
        ...tenants.templates,
        async get(organizationId, idOrName) {
          if (idOrName === 'explodes') throw new Error('a secret of the house')
          return tenants.templates.get(organizationId, idOrName)
        },
        async list(...input) {
          admitted.lists += 1
          return tenants.templates.list(...input)
        },
      },
    },
    limits: {
      ...limits,
      async admit(...input) {
        const admission = await limits.admit(...input)
        admitted.count += 1
        await gate?.('admitted')
        return {
          ...admission,
          async release() {
            await admission.release()
            admitted.count -= 1
          },
        }
      },
    },
  }
  return { internals: engine }
}

/** Stands still but for `advance`; timers are real. */
function steppedClock() {
  let now = START
  return {
    now: () => now,
    monotonic: () => now - START,
    timer(delayMs: number, callback: () => void) {
      const timer = setTimeout(callback, delayMs)
      timer.unref()
      return () => clearTimeout(timer)
    },
    advance(ms: number) {
      now += ms
    },
  }
}
