import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ProviderHealth } from '../../core/delivery/model.ts'
import type { FactType } from '../../core/notification/facts.ts'
import type { LogEntry } from '../../core/ports/storage/logs.ts'
import type { Storage } from '../../core/ports/storage/storage.ts'
import { ALL_ORGANIZATIONS } from '../../core/tenancy/all-organizations.ts'
import type { ProviderStatistics } from './model.ts'

/** Entries per read: a synchronous storage blocks the process meanwhile. */
const ROWS = 100
/** Most entries that are examined. */
const MOST_EXAMINED = 2_000

/** What each fact says about its provider; absent: nothing. */
const SAYS: Readonly<Partial<Record<FactType, 'good' | 'bad'>>> = {
  sent: 'good',
  attempt_failed: 'bad',
  attempt_ambiguous: 'bad',
  failed: 'bad',
  undelivered: 'bad',
  bounced: 'bad',
}

/**
 * How the providers of an organization, or of all, have done since a time.
 *
 * @param health of the providers of this process
 */
export async function providersSince(
  { logs }: Pick<Storage, 'logs'>,
  organizationId: string,
  since: number,
  health: readonly ProviderHealth[],
): Promise<readonly ProviderStatistics[]> {
  const entries: LogEntry[] = []
  let cursor: string | undefined
  let exact = false
  for (let examined = 0; examined < MOST_EXAMINED; examined += ROWS) {
    const page = await logs.list({ organizationId }, { limit: ROWS, offset: 0, cursor })
    entries.push(...page.items.filter(({ at }) => at >= since))
    // Over all organizations the log has the order of ids, in which an older entry may come before newer ones.
    const isOld = organizationId !== ALL_ORGANIZATIONS && (page.items.at(-1)?.at ?? since) < since
    exact = isOld || page.nextCursor === null
    if (exact || page.nextCursor === null) break
    cursor = page.nextCursor
    await nextTurn()
  }
  const found = new Map<string, ProviderStatistics>()
  for (const entry of entries.sort((one, other) => one.at - other.at)) add(found, entry, exact)
  return [...found.values()]
    .map((one) => ({ ...one, pausedUntil: pausedUntil(one, organizationId, health) }))
    .sort((one, other) => rateOf(one) - rateOf(other) || other.failed - one.failed)
}

function pausedUntil(
  { channel, name }: ProviderStatistics,
  organizationId: string,
  health: readonly ProviderHealth[],
): string | null {
  const own = health.filter((one) => one.organizationId === organizationId || one.organizationId === null)
  return own.find((one) => one.channel === channel && one.name === name)?.pausedUntil ?? null
}

/** Oldest first. */
function add(found: Map<string, ProviderStatistics>, { channel, at, fact }: LogEntry, exact: boolean): void {
  const says = fact === null ? undefined : SAYS[fact.type]
  if (fact?.provider === undefined || says === undefined || fact.notSent) return
  const { provider: name, code = null, providerCode = null, message = null } = fact
  const key = `${channel}\n${name}`
  const known = found.get(key) ?? {
    name,
    channel,
    sent: 0,
    failed: 0,
    exact,
    failingSince: null,
    pausedUntil: null,
    lastError: null,
  }
  const time = new Date(at).toISOString()
  found.set(
    key,
    says === 'good'
      ? { ...known, sent: known.sent + 1, failingSince: null }
      : {
          ...known,
          failed: known.failed + 1,
          failingSince: known.failingSince ?? time,
          lastError: { code, providerCode, message, at: time },
        },
  )
}

function rateOf({ sent, failed }: ProviderStatistics): number {
  return sent / (sent + failed)
}
