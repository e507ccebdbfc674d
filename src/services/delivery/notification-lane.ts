import { type AttemptContext, type Decision, decide } from '../../domain/decide.ts'
import type { ErrorCode } from '../../domain/errors/catalogue.ts'
import { isNotifierError } from '../../domain/errors/notifier-error.ts'
import type { NotificationFailure } from '../../domain/notification.ts'
import type { Outcome } from '../../domain/outcome.ts'
import { maxAttempts } from '../../domain/retry.ts'
import { boundedSmsText } from '../../domain/sms-segments.ts'
import { suppressionError } from '../../domain/suppression.ts'
import type { Message } from '../../ports/channel.ts'
import type { Clock } from '../../ports/clock.ts'
import type { Logger } from '../../ports/logger.ts'
import type { ClaimedJob } from '../../ports/storage/claim.ts'
import { accepts } from '../providers.ts'
import { renderContent } from '../render.ts'
import { type MatchSuppression, suppressionKey } from '../suppressions/match.ts'
import type { Observer } from '../telemetry/observer.ts'
import type { CompiledTemplates } from '../templates/compiled-templates.ts'
import type { Attempts } from './attempts.ts'
import type { Lane } from './lane.ts'
import type { ProviderState } from './provider-state.ts'
import { sendAttempt } from './send-attempt.ts'

type NotificationJob = Extract<ClaimedJob, { kind: 'notification' }>

/** What delivers notifications. */
export interface NotificationDelivery {
  readonly attempts: Attempts
  readonly compiled: CompiledTemplates
  readonly matchSuppression: MatchSuppression
  readonly clock: Clock
  readonly logger: Logger
  readonly observer: Observer
  readonly maxSmsSegments: number
  /** In [0, 1). */
  random(): number
}

/** How long a job waits when the provider that is left for it has no free slot. */
const PATIENCE_MS = 500

/** The lane of one channel: its providers in the order of preference. */
export function createNotificationLane(
  states: readonly ProviderState[],
  delivery: NotificationDelivery,
): Lane {
  const { attempts, matchSuppression, clock, logger, observer, random } = delivery
  /** Providers that a job has failed over from; gone with the process, and then they are asked once more. */
  const failedOver = new Map<string, Set<string>>()

  function choose(job: NotificationJob): ProviderState | undefined {
    const asked = failedOver.get(job.jobId)
    return states.find(
      (state) => state.free() > 0 && asked?.has(state.provider.name) !== true && reaches(state, job),
    )
  }

  async function deliver(job: NotificationJob, state: ProviderState, stop: AbortSignal): Promise<void> {
    const ended = endBefore(job, state)
    if (ended !== null) return endWithout(job, ended.code, ended.message)
    const rendered = await render(job, delivery)
    if ('code' in rendered) return endWithout(job, rendered.code, rendered.message)
    const { message, segments } = rendered
    // Last of all, because it may have been suppressed since the accept, or since the attempt before. Where it rejects,
    // nothing is sent and the job comes back when its lease ends.
    const reason = await matchSuppression(suppressionKey(job.organizationId, job.notification))
    if (reason !== null) {
      const { code, message: why } = suppressionError(reason)
      return endWithout(job, code, why)
    }
    const { provider } = state
    if (!(await attempts.begin({ jobId: job.jobId, token: job.token, provider: provider.name }))) return
    const began = clock.monotonic()
    const { notification, organizationId } = job
    const attempt = job.attempts + 1
    const context = {
      notificationId: notification.id,
      organizationId,
      attempt,
      idempotencyKey: notification.id,
      createdAt: notification.createdAt,
      logger,
    }
    const outcome = await sendAttempt(provider, message, context, stop, clock, observer)
    const durationMs = Math.round(clock.monotonic() - began)
    await settle(job, state, decision(job, state, outcome, { attempt, durationMs, segments }))
  }

  function decision(
    job: NotificationJob,
    state: ProviderState,
    outcome: Outcome,
    about: Pick<AttemptContext, 'attempt' | 'durationMs' | 'segments'>,
  ): Decision {
    const { expiresInMs } = job.notification
    const { provider } = state
    return decide(outcome, {
      ...about,
      outages: job.outages,
      earlierAttempts: job.earlierAttempts,
      provider: provider.name,
      hasNextProvider: states.some(
        (other) => other !== state && !other.paused() && isNew(job, other) && reaches(other, job),
      ),
      policy: provider.retry,
      onAmbiguous: provider.onAmbiguous,
      expiresInMs: expiresInMs === null ? null : expiresInMs - about.durationMs,
      random: random(),
    })
  }

  async function settle(
    job: NotificationJob,
    state: ProviderState,
    { facts, next, provider, pauseMs }: Decision,
  ): Promise<void> {
    if (provider === 'works') state.succeeded()
    else if (provider === 'faulty') state.faulted(pauseMs)
    if (next.kind === 'retry' && next.failOver) {
      const asked = failedOver.get(job.jobId) ?? new Set()
      failedOver.set(job.jobId, asked.add(state.provider.name))
    } else {
      failedOver.delete(job.jobId)
    }
    const ref = { jobId: job.jobId, token: job.token, kind: 'notification' as const }
    await attempts.settle({
      ...ref,
      facts,
      next:
        next.kind === 'end'
          ? next
          : { kind: 'retry', delayMs: next.delayMs, ...(next.outage ? { outage: true } : {}) },
    })
  }

  /** The providers that are left rest or are full: back to the storage, and a little patience. */
  function later(job: NotificationJob): Promise<void> {
    // When all that are left rest, those that it has failed over from are its next hope.
    if (!states.some((state) => !state.paused() && isNew(job, state) && reaches(state, job))) {
      failedOver.delete(job.jobId)
    }
    const { jobId, token } = job
    const next = { kind: 'retry', delayMs: PATIENCE_MS } as const
    return attempts.settle({ jobId, token, kind: 'notification', facts: [], next })
  }

  function endWithout(job: NotificationJob, code: ErrorCode, message: string): Promise<void> {
    failedOver.delete(job.jobId)
    const { jobId, token } = job
    return attempts.settle({
      jobId,
      token,
      kind: 'notification',
      facts: [{ type: 'failed', code, message }],
      next: { kind: 'end' },
    })
  }

  function isNew(job: NotificationJob, state: ProviderState): boolean {
    return failedOver.get(job.jobId)?.has(state.provider.name) !== true
  }

  return {
    free: () => states.reduce((sum, state) => sum + state.free(), 0),
    async run(job) {
      if (job.kind !== 'notification') return
      const state = choose(job)
      if (state !== undefined) {
        return state.run(() => attempts.run(job, (stop) => deliver(job, state, stop)))
      }
      return attempts.run(job, () =>
        states.some((candidate) => reaches(candidate, job))
          ? later(job)
          : endWithout(job, 'invalid_recipient', 'No configured provider accepts this recipient any more.'),
      )
    },
  }
}

function reaches(state: ProviderState, job: NotificationJob): boolean {
  return accepts(state.provider, job.notification.to)
}

/** Why a job ends without another attempt; null: it has one. */
function endBefore(
  { notification, recovered, attempts, outages, earlierAttempts }: NotificationJob,
  { provider }: ProviderState,
): { readonly code: ErrorCode; readonly message: string } | null {
  // A message that ends its process ends itself at last, and an outage before that is no part of it.
  const own = attempts - earlierAttempts - outages
  if (recovered && (provider.onAmbiguous === 'fail' || own >= maxAttempts(provider.retry))) {
    return {
      code: 'delivery_unknown',
      message: 'The process ended while the provider was being asked; whether it accepted is unknown.',
    }
  }
  if (notification.expiresInMs !== null && notification.expiresInMs <= 0) {
    return { code: 'expired', message: 'The notification expired before it could be delivered.' }
  }
  return null
}

interface RenderedMessage {
  readonly message: Message
  /** Of a text message. */
  readonly segments: number | undefined
}

/** The text to send, or why there will never be one. Rejects when the storage is away. */
async function render(
  { notification }: NotificationJob,
  { compiled, maxSmsSegments }: NotificationDelivery,
): Promise<RenderedMessage | NotificationFailure> {
  const { channel, to, content } = notification
  try {
    if ('template' in content) await compiled.load([content.template])
  } catch (error) {
    if (!isNotifierError(error) || error.code === 'service_unavailable') throw error
    return { code: 'template_error', message: error.message }
  }
  try {
    const message = { to, ...renderContent(channel, content, compiled) }
    const segments = channel === 'sms' ? boundedSmsText(message.body, maxSmsSegments).segments : undefined
    return { message, segments }
  } catch (error) {
    const tooLarge = isNotifierError(error) && error.code === 'message_too_large'
    return {
      code: tooLarge ? 'message_too_large' : 'template_error',
      message: error instanceof Error ? error.message : String(error),
    }
  }
}
