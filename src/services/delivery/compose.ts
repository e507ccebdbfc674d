import type { ChannelKind } from '../../domain/channel-kind.ts'
import type { ErrorCode } from '../../domain/errors/catalogue.ts'
import { isNotifierError } from '../../domain/errors/notifier-error.ts'
import type { NotificationFailure } from '../../domain/notification.ts'
import type { Steps } from '../../domain/steps.ts'
import type { CompiledTemplate } from '../../domain/template/compile.ts'
import { MAX_TRACKED_LINKS, NO_TRACKING, type Tracking } from '../../domain/track-html.ts'
import type { Logger } from '../../ports/logger.ts'
import type { Message } from '../../ports/provider.ts'
import type { Links } from '../links/links.ts'
import type { RunInSlices } from '../processor.ts'
import { contentSteps, isBlank, renderParts } from '../render.ts'
import type { MatchSuppression } from '../suppressions/match.ts'
import type { CompiledTemplates } from '../templates/compiled-templates.ts'
import type { TemplateVersion } from '../templates/kind.ts'
import { type CopyFacts, matchAddressees, NO_COPIES, withoutSuppressed } from './copies.ts'
import { endBefore, type NotificationJob } from './end-before.ts'
import type { ProviderState } from './provider-state.ts'
import { type Stop, untilStopped } from './stop.ts'

/** Dependencies for composing messages. */
export interface Composition {
  readonly compiled: CompiledTemplates
  readonly links: Links
  /** The tracking settings of an organization's HTML mails. */
  tracking(organizationId: string): Promise<Tracking>
  readonly matchSuppression: MatchSuppression
  readonly logger: Logger
}

export interface ComposedMessage {
  readonly message: Message
  /** Segments of a text message. */
  readonly segments: number | undefined
  /** About copies that were left out. */
  readonly copies: CopyFacts
}

/**
 * The message to send, or why there is none. Null: the attempt was stopped. Rejects if the storage is away.
 *
 * @param share runs the work on the text
 */
export type Compose = (
  job: NotificationJob,
  state: ProviderState,
  share: RunInSlices,
  stop: Stop,
) => Promise<ComposedMessage | NotificationFailure | null>

export function createCompose(composition: Composition): Compose {
  return async function compose(job, state, share, stop) {
    const ended = endBefore(job, state)
    if (ended !== null) return ended
    const { notification, organizationId } = job
    const { content } = notification
    const { kind } = state.provider
    const template = 'template' in content ? await templateOf(content.template, composition) : null
    if (template !== null && 'code' in template) return template
    const tracks = kind.html === true && composition.links.canTrack
    const tracking = tracks ? await composition.tracking(organizationId) : NO_TRACKING
    const rendered = await shared(render(kind, job, template, composition, tracking), share, stop)
    if (rendered === null || 'code' in rendered) return rendered
    // Checked last, because the recipient may have been suppressed since the accept or the last attempt. If it rejects,
    // nothing is sent and the job comes back after its lease.
    const { parts } = content
    const { to } = notification
    const matched = await matchAddressees(kind, organizationId, to, parts, composition.matchSuppression)
    return withoutSuppressed(kind, rendered, matched)
  }
}

/** The result of the steps. Null: stopped. */
async function shared<Result>(
  steps: Iterator<undefined, Result>,
  share: RunInSlices,
  stop: Stop,
): Promise<Result | null> {
  try {
    return await share(untilStopped(steps, stop))
  } catch (error) {
    if (stop.aborted()) return null
    throw error
  }
}

const BLANK = 'The text of the message is blank.'

/** Final errors of a failed rendering, by cause; otherwise `template_error`. */
const CODES: Partial<Record<ErrorCode, ErrorCode>> = {
  message_too_large: 'message_too_large',
  // An option has changed since the accept.
  invalid_parameter: 'invalid_configuration',
}

/** A template, or the reason why there is none. Rejects if the storage is away. */
async function templateOf(
  template: TemplateVersion,
  { compiled }: Composition,
): Promise<CompiledTemplate | NotificationFailure> {
  try {
    return await compiled.load(template)
  } catch (error) {
    if (!isNotifierError(error) || error.code === 'service_unavailable') throw error
    return { code: 'template_error', message: error.message }
  }
}

/** The text to send, or the reason why there is none. */
function* render(
  kind: ChannelKind,
  job: NotificationJob,
  template: CompiledTemplate | null,
  composition: Composition,
  tracking: Tracking,
): Steps<ComposedMessage | NotificationFailure> {
  const { id, to, content, metadata } = job.notification
  try {
    const parts = renderParts(kind, id, content, composition.links)
    const text = yield* contentSteps(kind, content, template)
    if (isBlank(kind, text, content)) return { code: 'template_error', message: BLANK }
    kind.assertText?.(text, content.parts)
    const message = yield* tracked(
      { to, ...text, ...parts, ...(metadata === null ? {} : { metadata }) },
      job,
      composition,
      tracking,
    )
    return { message, segments: kind.measure?.(text).segments, copies: NO_COPIES }
  } catch (error) {
    const known = isNotifierError(error) ? CODES[error.code] : undefined
    return {
      code: known ?? 'template_error',
      message: error instanceof Error ? error.message : String(error),
    }
  }
}

/** A message with tracked HTML. Its text alternative is made from the untracked HTML. */
function* tracked(
  message: Message,
  { notification: { id: notificationId }, organizationId }: NotificationJob,
  { links, logger }: Composition,
  tracking: Tracking,
): Steps<Message> {
  if (message.format !== 'html' || !(tracking.opens || tracking.clicks)) return message
  const { body } = message
  const { html, complete } = yield* links.track(notificationId, body, tracking)
  if (!complete) {
    const counted = `A mail has more links than can be tracked: clicks are counted for the first ${MAX_TRACKED_LINKS} only.`
    logger.warn(counted, { notificationId, organizationId })
  }
  return { ...message, body: html, untracked: body }
}
