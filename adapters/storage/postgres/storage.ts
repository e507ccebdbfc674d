import type { Storage } from '../../../src/ports/storage/storage.ts'
import { createAccept } from './accept.ts'
import { createApiKeys } from './api-keys.ts'
import { createBacklog } from './backlog.ts'
import { createClaim } from './claim.ts'
import { createConnection } from './connection.ts'
import { createFindIdempotent } from './idempotency.ts'
import { createKeep } from './keep.ts'
import { createLeases } from './leases.ts'
import { createLogs } from './logs.ts'
import { migrate } from './migrate.ts'
import { createNotifications } from './notifications.ts'
import type { ResolvedOptions } from './options.ts'
import { createDefaultOrganization, createOrganizations } from './organizations.ts'
import { createPartitions } from './partitions.ts'
import { connectListener, type OpenPool, openPool } from './pool.ts'
import { createQuotaUsed } from './quota.ts'
import { createRecordReceipts } from './receipts.ts'
import { createRecoverExpired } from './recover.ts'
import { createRetention } from './retention.ts'
import { createSettle } from './settle.ts'
import { createSuppressions } from './suppressions.ts'
import { createTemplates } from './templates.ts'
import { createWake } from './wake.ts'
import { createWebhookEndpoints } from './webhook-endpoints.ts'

/** How often the partitions of the next months are looked after. */
const PARTITIONS_EVERY_MS = 6 * 60 * 60_000

/** @param time of a test; null: the database's own clock */
export function createStorage(options: ResolvedOptions, time: () => number | null): Storage {
  const connection = createConnection({ ...options, time })
  const wake = createWake(connection, options.listen ? () => connectListener(options) : null)
  const accept = createAccept(connection)
  const leases = createLeases(connection)
  const settle = createSettle(connection)
  let open: OpenPool | undefined
  let starting: Promise<void> | undefined
  let partitions: NodeJS.Timeout | undefined
  const calls = new Set<Promise<unknown>>()

  async function start(): Promise<void> {
    open = await openPool(options)
    connection.use(open.pool)
    try {
      await migrate(connection)
      await createPartitions(connection)
      await createDefaultOrganization(connection)
    } catch (error) {
      await close()
      throw error
    }
    // One that fails is tried again: meanwhile the default partition takes what has none.
    partitions = setInterval(() => void createPartitions(connection).catch(() => {}), PARTITIONS_EVERY_MS)
    partitions.unref()
  }

  async function close(): Promise<void> {
    clearInterval(partitions)
    connection.use(undefined)
    const before = open
    open = undefined
    await before?.close()
  }

  /** Waited for by `stop`. */
  function counted<Args extends readonly unknown[], Answer>(
    call: (...args: Args) => Promise<Answer>,
  ): (...args: Args) => Promise<Answer> {
    return (...args) => {
      const running = call(...args)
      calls.add(running)
      const done = (): void => void calls.delete(running)
      running.then(done, done)
      return running
    }
  }

  return {
    name: 'postgres',
    durable: true,
    start() {
      starting ??= start().catch((error: unknown) => {
        starting = undefined
        throw error
      })
      return starting
    },
    async stop() {
      await starting?.catch(() => {})
      starting = undefined
      await wake.stop()
      await Promise.allSettled(calls)
      await close()
    },
    onWork: wake.listen,
    accept: counted(async (requests) => {
      const answers = await accept(requests)
      if (requests.some(({ dryRun, notifications }) => dryRun !== true && notifications.length > 0))
        wake.announce()
      return answers
    }),
    quotaUsed: createQuotaUsed(connection),
    findIdempotent: createFindIdempotent(connection),
    claim: counted(createClaim(connection, createRecoverExpired(connection))),
    startAttempts: counted(leases.startAttempts),
    renew: counted(leases.renew),
    release: counted(leases.release),
    settle: counted(async (settlements) => {
      const answers = await settle(settlements)
      // Deliveries that follow are delivered by whoever is free.
      if (answers.some((answer) => answer.kind === 'settled' && answer.events.length > 0)) wake.announce()
      return answers
    }),
    recordReceipts: counted(createRecordReceipts(connection)),
    backlog: createBacklog(connection),
    notifications: createNotifications(connection),
    logs: createLogs(connection),
    organizations: createOrganizations(connection),
    apiKeys: createApiKeys(connection),
    templates: createTemplates(connection),
    webhookEndpoints: createWebhookEndpoints(connection),
    suppressions: createSuppressions(connection),
    retention: createRetention(connection),
    keep: createKeep(connection),
  }
}
