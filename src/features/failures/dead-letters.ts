import { setImmediate as nextTurn } from 'node:timers/promises'
import * as z from 'zod'
import { NotifierError } from '../../core/errors/notifier-error.ts'
import type { FeatureCore } from '../../core/feature.ts'
import { parseInput } from '../../core/input/parse.ts'
import { groupFailures } from '../../core/notification/failure-groups.ts'
import { templateId } from '../../core/notification/filter.ts'
import type { NotificationRecord } from '../../core/notification/model.ts'
import { listSummaries } from '../../core/notification/notifications.ts'
import { contentRemoved } from '../../core/notification/sensitive.ts'
import type { NotificationFilter, RetryRequest } from '../../core/ports/storage/notifications.ts'
import { decodeCursor, encodeCursor, notACursor } from '../../core/records/cursor.ts'
import { listReader } from '../../core/records/list.ts'
import type { PerTenant } from '../../core/tenancy/per-tenant.ts'
import { byId, owned, parseOptions } from '../../core/tenancy/scope.ts'
import type { CodeTemplates } from '../../core/text/code-templates.ts'
import type { DeadLetters, Retries } from './api.ts'
import { deadLetterFilters, type ParsedRetry, retryInput } from './input.ts'

const readList = listReader<ParsedRetry['filter']>('dead-letters', deadLetterFilters)

const { channel, code, provider, from, until } = deadLetterFilters
const groupQuery = z.strictObject({ channel, code, provider, from, until })

/** Dead letters per commit: a synchronous storage blocks the process meanwhile. */
const STEP = 200

export interface DeadLetterServices extends FeatureCore {
  readonly code: CodeTemplates
}

/** Where a retry continues. */
interface RetryPosition {
  readonly after?: string | undefined
  readonly dueAt?: number | undefined
}

interface Counts {
  readonly retried: number
  readonly expired: number
  readonly unroutable: number
  readonly contentRemoved: number
}

/** The use cases for listing and retrying dead letters. */
export function createDeadLetters({
  storage,
  organizations,
  registry,
  code,
  notifications,
  wake,
}: DeadLetterServices): {
  readonly deadLetters: PerTenant<DeadLetters>
  readonly notifications: PerTenant<Retries>
} {
  /** By the present configuration, which may have changed. */
  async function lanesOf(organizationId: string): Promise<RetryRequest['lanes']> {
    const lanes: Record<string, string> = {}
    for (const channel of registry.channels) {
      await registry.warm(channel, organizationId)
      const route = registry.of(channel, organizationId)
      if (route !== null) lanes[channel] = route.lane
    }
    return lanes
  }

  return {
    deadLetters: {
      async list(organizationId, query) {
        const { page, filter: asked } = readList(query, organizationId)
        await organizations.readable(organizationId)
        const { template, ...rest } = asked
        const filter = {
          ...rest,
          organizationId,
          status: 'failed' as const,
          templateId: await templateId(storage.records, template, organizationId, code),
        }
        return listSummaries('dead-letters', storage, filter, page, registry)
      },
      async groups(organizationId, query) {
        const { from, until, ...asked } = parseOptions(groupQuery, query)
        await organizations.readable(organizationId)
        return groupFailures(
          storage,
          { organizationId, from, until },
          ({ channel, code, provider }) =>
            (asked.channel ?? channel) === channel &&
            (asked.code ?? code) === code &&
            (asked.provider ?? provider) === provider,
        )
      },
      async retry(organizationId, input) {
        const { filter, dryRun, ratePerSecond, most, cursor } = parseInput(retryInput, input)
        const begin = cursor === undefined ? {} : positionOf(cursor)
        await organizations.existing(organizationId)
        const { template, ...rest } = filter
        const chosen = {
          ...rest,
          organizationId,
          templateId: await templateId(storage.records, template, organizationId, code),
        }
        const spacingMs = ratePerSecond === undefined ? 0 : 1_000 / ratePerSecond
        const { counts, next, nextDueAt } = await retryInSteps(chosen, { dryRun, spacingMs, most, begin })
        const { retried, ...skipped } = counts
        const lastDueAt = retried === 0 ? null : new Date(nextDueAt - spacingMs).toISOString()
        const nextCursor = next === null ? null : cursorOf({ after: next, dueAt: nextDueAt })
        return { dryRun, retried, skipped, more: next !== null, nextCursor, lastDueAt }
      },
    },
    notifications: { retry },
  }

  async function retry(organizationId: string, id: string): Promise<NotificationRecord> {
    const { status, content } = owned(
      await byId(id, (known) => storage.notifications.get(known)),
      organizationId,
      'notification_not_found',
    )
    const lanes = await lanesOf(organizationId)
    const filter = { organizationId, ids: [id] }
    const {
      retried,
      expired,
      unroutable,
      contentRemoved: removed,
    } = await storage.notifications.retry({
      filter,
      lanes,
      most: 1,
    })
    if (retried === 1) {
      wake()
      return notifications.get(organizationId, id)
    }
    if (expired === 1) throw notRetryable('It has expired. Resend it instead: the copy gets as much time.')
    if (removed === 1) throw contentRemoved(content)
    if (unroutable === 1) throw new NotifierError('invalid_channel')
    throw notRetryable(`Only failed notifications are retried, and this one is ${status}. Resend it instead.`)
  }

  async function retryInSteps(
    filter: Omit<NotificationFilter, 'status'>,
    {
      dryRun,
      spacingMs,
      most,
      begin,
    }: { dryRun: boolean; spacingMs: number; most: number; begin: RetryPosition },
  ): Promise<{ readonly counts: Counts; readonly next: string | null; readonly nextDueAt: number }> {
    const lanes = await lanesOf(filter.organizationId)
    let counts: Counts = { retried: 0, expired: 0, unroutable: 0, contentRemoved: 0 }
    let { after, dueAt } = begin
    for (;;) {
      const step = Math.min(STEP, most - counts.retried)
      const answer = await storage.notifications.retry({
        filter,
        lanes,
        dryRun,
        spacingMs,
        dueAt,
        after,
        most: step,
      })
      counts = sum(counts, answer)
      if (!dryRun && answer.retried > 0) wake()
      dueAt = answer.nextDueAt
      if (answer.next === null || counts.retried >= most) {
        return { counts, next: answer.next, nextDueAt: dueAt }
      }
      after = answer.next
      // A synchronous storage would otherwise block the process until the last step.
      await nextTurn()
    }
  }
}

const PREFIX = 'retry.'

function cursorOf({ after, dueAt }: Required<RetryPosition>): string {
  return `${PREFIX}${encodeCursor([Math.floor(dueAt ?? 0)])}.${after}`
}

/** @throws NotifierError `invalid_parameter` */
function positionOf(cursor: string): RetryPosition {
  const [dueAt = '', ...after] = cursor.startsWith(PREFIX) ? cursor.slice(PREFIX.length).split('.') : []
  if (after.length === 0) throw notACursor()
  return { after: after.join('.'), dueAt: decodeCursor(dueAt, 1)[0] }
}

function sum(a: Counts, b: Counts): Counts {
  return {
    retried: a.retried + b.retried,
    expired: a.expired + b.expired,
    unroutable: a.unroutable + b.unroutable,
    contentRemoved: a.contentRemoved + b.contentRemoved,
  }
}

function notRetryable(message: string): NotifierError {
  return new NotifierError('not_retryable', { message })
}
