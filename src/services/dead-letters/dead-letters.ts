import { setImmediate as nextTurn } from 'node:timers/promises'
import type { ChannelName } from '../../domain/channel.ts'
import { NotifierError } from '../../domain/errors/notifier-error.ts'
import { parseInput } from '../../domain/input/parse.ts'
import { deadLetterFilters, type ParsedRedrive, redriveInput } from '../../domain/input/redrive.ts'
import type { NotificationFilter, RedriveRequest } from '../../ports/storage/notifications.ts'
import type { Storage } from '../../ports/storage/storage.ts'
import type { Routes } from '../channels/routes.ts'
import { listReader } from '../list.ts'
import { templateId } from '../notifications/filter.ts'
import { listSummaries } from '../notifications/notifications.ts'
import type { Organizations } from '../organizations/organizations.ts'
import { byId, owned } from '../scope.ts'
import type { Scoped, Tenant } from '../tenant.ts'

const readList = listReader<ParsedRedrive['filter']>('dead-letters', deadLetterFilters)

/** Dead letters that one commit looks at. */
const STEP = 1_000

export interface DeadLetterParts {
  readonly storage: Storage
  readonly organizations: Pick<Organizations, 'existing'>
  /** Says where a channel's notifications go now: that need not be where they went. */
  readonly routes: Pick<Routes, 'channels' | 'warm' | 'of'>
  /** Something may be due. */
  wake(): void
}

interface Counts {
  readonly redriven: number
  readonly expired: number
  readonly unroutable: number
  readonly contentRemoved: number
}

/** The use cases that list dead letters and take them up again. */
export function createDeadLetters({ storage, organizations, routes, wake }: DeadLetterParts): {
  readonly api: Scoped<Tenant['deadLetters']>
  /** Takes up one. @throws NotifierError as `Tenant.notifications.redrive` */
  one(organizationId: string, id: string): Promise<void>
} {
  async function lanesOf(organizationId: string): Promise<RedriveRequest['lanes']> {
    const lanes: Partial<Record<ChannelName, string>> = {}
    for (const channel of routes.channels) {
      await routes.warm(channel, organizationId)
      const route = routes.of(channel, organizationId)
      if (route !== null) lanes[channel] = route.lane
    }
    return lanes
  }

  return {
    api: {
      async list(organizationId, query) {
        const { page, filter: asked } = readList(query)
        await organizations.existing(organizationId)
        const { template, ...rest } = asked
        const filter = {
          ...rest,
          organizationId,
          status: 'failed' as const,
          templateId: await templateId(storage, template, organizationId),
        }
        return listSummaries('dead-letters', storage, filter, page)
      },
      async redrive(organizationId, input) {
        const { filter, dryRun, ratePerSecond, most } = parseInput(redriveInput, input)
        await organizations.existing(organizationId)
        const { template, ...rest } = filter
        const chosen = {
          ...rest,
          organizationId,
          templateId: await templateId(storage, template, organizationId),
        }
        const spacingMs = ratePerSecond === undefined ? 0 : 1_000 / ratePerSecond
        const { counts, more, nextDueAt } = await redriveInSteps(chosen, { dryRun, spacingMs, most })
        const { redriven, ...skipped } = counts
        const lastDueAt = redriven === 0 ? null : new Date(nextDueAt - spacingMs).toISOString()
        return { dryRun, redriven, skipped, more, lastDueAt }
      },
    },
    async one(organizationId, id) {
      const { status } = owned(
        await byId(id, (known) => storage.notifications.get(known)),
        organizationId,
        'notification_not_found',
      )
      const lanes = await lanesOf(organizationId)
      const filter = { organizationId, ids: [id] }
      const { redriven, expired, unroutable, contentRemoved } = await storage.notifications.redrive({
        filter,
        lanes,
        most: 1,
      })
      if (redriven === 1) {
        wake()
        return
      }
      if (expired === 1) throw notRedrivable('It has expired: send it again with a later expiry.')
      if (contentRemoved === 1) throw new NotifierError('content_removed')
      if (unroutable === 1) throw new NotifierError('invalid_channel')
      throw notRedrivable(`Only what has failed is redriven, once: this one is ${status}.`)
    },
  }

  async function redriveInSteps(
    filter: Omit<NotificationFilter, 'status'>,
    { dryRun, spacingMs, most }: { dryRun: boolean; spacingMs: number; most: number },
  ): Promise<{ readonly counts: Counts; readonly more: boolean; readonly nextDueAt: number }> {
    const lanes = await lanesOf(filter.organizationId)
    let counts: Counts = { redriven: 0, expired: 0, unroutable: 0, contentRemoved: 0 }
    let after: string | undefined
    let dueAt: number | undefined
    for (;;) {
      const step = Math.min(STEP, most - counts.redriven)
      const answer = await storage.notifications.redrive({
        filter,
        lanes,
        dryRun,
        spacingMs,
        dueAt,
        after,
        most: step,
      })
      counts = sum(counts, answer)
      if (!dryRun && answer.redriven > 0) wake()
      dueAt = answer.nextDueAt
      if (answer.next === null || counts.redriven >= most) {
        return { counts, more: answer.next !== null, nextDueAt: dueAt }
      }
      after = answer.next
      // A storage that works synchronously would otherwise keep the process from everything else until the last step.
      await nextTurn()
    }
  }
}

function sum(a: Counts, b: Counts): Counts {
  return {
    redriven: a.redriven + b.redriven,
    expired: a.expired + b.expired,
    unroutable: a.unroutable + b.unroutable,
    contentRemoved: a.contentRemoved + b.contentRemoved,
  }
}

function notRedrivable(message: string): NotifierError {
  return new NotifierError('not_redrivable', { message })
}
