import type { ProviderRegistry } from '../channels/provider-registry.ts'
import type { ProviderHealth } from '../delivery/model.ts'
import type { ErrorCode } from '../errors/catalogue.ts'
import type { JobCount } from '../ports/storage/job-counts.ts'
import type { TimelineEntry } from '../ports/storage/notifications.ts'
import { isoOrNull } from '../tenancy/scope.ts'
import type { WaitingRecord } from './model.ts'
import type { Notification } from './notification.ts'

/** What the deciding process knows about its providers. */
export interface WaitingServices {
  readonly registry: Pick<ProviderRegistry, 'of'>
  providers(): readonly ProviderHealth[]
}

/**
 * Why a notification with this job is not sent yet.
 *
 * @param timeline its history in order
 */
export function waitingOf(
  notification: Notification,
  job: JobCount,
  timeline: readonly TimelineEntry[],
  services: WaitingServices,
): WaitingRecord {
  if (job.state === 'running') return because('attempt_running')
  if (job.state === 'due') return pausedOf(notification, services) ?? because('in_queue')
  // Due at its own time: what delayed it counts no more.
  const isPlanned = job.dueAt <= (notification.sendAt ?? 0)
  const delayed = isPlanned ? null : delayOf(notification, timeline)
  if (delayed !== null) return { ...because('delayed', job.dueAt), message: delayed }
  if (notification.status === 'scheduled') return because('scheduled', job.dueAt)
  const code = notification.error?.code ?? null
  if (job.state === 'retrying' || code !== null) return because('retry', job.dueAt, code)
  return pausedOf(notification, services) ?? because('in_queue', job.dueAt)
}

/** Why the gate lets it wait. Null: it does not. */
function delayOf({ content }: Notification, timeline: readonly TimelineEntry[]): string | null {
  const last = timeline.at(-1)
  if (last?.type === 'delayed') return last.fact?.message ?? ''
  const { delayed } = content
  // Another entry than that of the accept: it has a new time since.
  if (timeline.length > 1 || delayed === undefined) return null
  return delayed.reason
}

/** Null: a provider could be called, as far as this process knows. */
export function pausedOf(
  { channel, organizationId }: Pick<Notification, 'channel' | 'organizationId'>,
  { registry, providers }: WaitingServices,
): WaitingRecord | null {
  const destination = registry.of(channel, organizationId)
  if (destination === null) return because('channel_not_configured')
  if (destination.providers === null) return because('providers_unavailable')
  const resting = destination.providers.map((provider) =>
    providers().find(
      (health) =>
        health.state === 'paused' &&
        health.channel === channel &&
        health.name === provider.name &&
        health.organizationId === provider.organizationId,
    ),
  )
  const [first, ...others] = resting
  if (first === undefined || others.includes(undefined)) return null
  const until = resting.flatMap((health) => health?.pausedUntil ?? []).sort()[0] ?? null
  return { reason: 'provider_paused', until, code: first.code, message: null }
}

function because(
  reason: WaitingRecord['reason'],
  until: number | null = null,
  code: ErrorCode | null = null,
): WaitingRecord {
  return { reason, until: isoOrNull(until), code, message: null }
}
