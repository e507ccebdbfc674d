import type { WebhookEventType } from '../../../src/core/delivery/endpoint-health.ts'
import type { SecretRotation, WebhookEndpoint } from '../../../src/core/ports/storage/webhook-endpoints.ts'

/** A webhook endpoint. Times are epoch milliseconds; `events`, `secrets` and `secret_ends` are JSON. */
export interface EndpointRow {
  readonly seq: number
  readonly id: string
  readonly organization: string
  readonly url: string
  readonly events: string
  readonly success_status: WebhookEndpoint['successStatus']
  readonly status: WebhookEndpoint['status']
  readonly disabled_reason: WebhookEndpoint['disabledReason']
  readonly failing_since: number | null
  readonly secrets: string
  readonly secret_ends: string | null
  readonly created_at: number
}

/** A stored secret. `endsAt` null: valid until the next rotation. */
interface EndpointSecret {
  readonly secret: string
  readonly endsAt: number | null
}

/** Secrets that are still valid. */
function secretsOf(row: Pick<EndpointRow, 'secrets' | 'secret_ends'>, now: number): EndpointSecret[] {
  const ends: (number | null)[] = row.secret_ends === null ? [] : JSON.parse(row.secret_ends)
  return (JSON.parse(row.secrets) as string[])
    .map((secret, position) => ({ secret, endsAt: ends[position] ?? null }))
    .filter(({ endsAt }) => endsAt === null || endsAt > now)
}

/**
 * Reads an endpoint with the secrets that are valid.
 *
 * @param now the storage's time in epoch milliseconds
 *
 * @example
 * const rows = await query<EndpointRow>('SELECT * FROM endpoints WHERE organization = $1', ['org_acme'])
 * const endpoints = rows.map((row) => toEndpoint(row, now))
 */
export function toEndpoint(row: EndpointRow, now: number): WebhookEndpoint {
  return {
    id: row.id,
    organizationId: row.organization,
    url: row.url,
    events: JSON.parse(row.events) as WebhookEventType[],
    successStatus: row.success_status,
    status: row.status,
    disabledReason: row.disabled_reason,
    failingSince: row.failing_since,
    secrets: secretsOf(row, now).map(({ secret }) => secret),
    createdAt: row.created_at,
  }
}

/**
 * Columns of the secrets after a rotation. Older secrets end after the overlap.
 *
 * @param now the storage's time in epoch milliseconds
 *
 * @example
 * const { secrets, ends } = rotatedSecrets(row, { secret, overlapMs: 24 * 60 * 60 * 1000, most: 5 }, now)
 */
export function rotatedSecrets(
  row: Pick<EndpointRow, 'secrets' | 'secret_ends'>,
  { secret, overlapMs, most }: SecretRotation,
  now: number,
): { readonly secrets: string; readonly ends: string } {
  const latest = now + overlapMs
  const older = secretsOf(row, now)
    .map((one) => ({ ...one, endsAt: Math.min(one.endsAt ?? latest, latest) }))
    .filter(({ endsAt }) => endsAt > now)
  const kept = [{ secret, endsAt: null }, ...older].slice(0, most)
  return {
    secrets: JSON.stringify(kept.map((one) => one.secret)),
    ends: JSON.stringify(kept.map(({ endsAt }) => endsAt)),
  }
}
