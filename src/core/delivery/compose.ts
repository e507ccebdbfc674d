import type { ChannelKind } from '../channels/channel-kind.ts'
import type { ErrorCode } from '../errors/catalogue.ts'
import { isNotifierError } from '../errors/notifier-error.ts'
import { type Links, urlsOf } from '../links/links.ts'
import { NO_TRACKING, type Tracker, type Tracking } from '../links/tracking.ts'
import type { RunInSlices } from '../loop/processor.ts'
import type { Steps } from '../loop/steps.ts'
import type { Category } from '../notification/category.ts'
import type { NotificationFailure, Skip } from '../notification/notification.ts'
import type { Logger } from '../ports/logger.ts'
import type { Message } from '../ports/provider.ts'
import type { CompiledTemplate } from '../text/compile.ts'
import type { CompiledTemplates } from '../text/compiled-templates.ts'
import type { TemplateVersion } from '../text/kind.ts'
import { isBlank, renderContent, renderParts } from '../text/render.ts'
import { type CopyFacts, NO_COPIES, withoutCopies } from './copies.ts'
import type { NotificationJob } from './end-before.ts'
import type { Judged } from './judged.ts'
import type { ProviderState } from './provider-state.ts'
import { type Stop, untilStopped } from './stop.ts'
import type { Threads } from './threads.ts'
import type { UploadContents } from './upload-contents.ts'

/** Dependencies for composing messages. */
export interface Composition {
  readonly compiled: CompiledTemplates
  readonly links: Links
  /** Null: nothing is tracked. */
  readonly tracker: Tracker | undefined
  readonly uploads: UploadContents
  readonly threads: Threads
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
  judged: Judged,
  state: ProviderState,
  share: RunInSlices,
  stop: Stop,
) => Promise<ComposedMessage | NotificationFailure | null>

export function createCompose(composition: Composition): Compose {
  async function compose(...[job, judged, state, share, stop]: Parameters<Compose>): ReturnType<Compose> {
    const ended = endedBefore(job, judged)
    if (ended !== null) return ended
    const { content } = job.notification
    const { kind } = state.provider
    const template = 'body' in content ? null : await templateOf(content.template, composition)
    if (template !== null && 'code' in template) return template
    const asked = connectionsOf(kind, job, composition)
    const connections = asked instanceof Promise ? await asked : asked
    const about = { category: judged.category, template, connections }
    const rendered = await shared(render(kind, job, about, composition), share, stop)
    if (rendered === null || 'code' in rendered) return rendered
    return withoutCopies(kind, rendered, judged.unwanted)
  }

  return function composeWhole(job, judged, state, share, stop) {
    const { content } = job.notification
    const { parts } = content
    const needed = parts !== undefined && endedBefore(job, judged) === null
    const reading = needed ? composition.uploads.into(parts) : undefined
    if (reading === undefined) return compose(job, judged, state, share, stop)
    return withUploads(job, reading).then((whole) =>
      'code' in whole ? whole : compose(whole, judged, state, share, stop),
    )
  }
}

/** The job with the bytes of its uploads, or why there is none. Rejects if the storage is away. */
async function withUploads(
  job: NotificationJob,
  reading: Promise<unknown>,
): Promise<NotificationJob | NotificationFailure> {
  try {
    const content = { ...job.notification.content, parts: await reading }
    return { ...job, notification: { ...job.notification, content } }
  } catch (error) {
    if (!isNotifierError(error) || error.code !== 'unknown_attachment') throw error
    return { code: error.code, message: error.message }
  }
}

/** At once for messages that are never tracked and answer none. */
function connectionsOf(
  kind: ChannelKind,
  { organizationId, notification }: NotificationJob,
  composition: Composition,
): Connections | Promise<Connections> {
  const tracking = trackingOf(kind, organizationId, composition)
  const { parts } = notification.content
  const answered = parts === undefined ? undefined : kind.answers?.(parts)
  if (answered === undefined && !(tracking instanceof Promise)) return { tracking, threadId: null }
  const threadId = answered === undefined ? null : composition.threads.of(organizationId, answered)
  return Promise.all([tracking, threadId]).then(([tracking, threadId]) => ({ tracking, threadId }))
}

function trackingOf(
  kind: ChannelKind,
  organizationId: string,
  { tracker }: Composition,
): Tracking | Promise<Tracking> {
  return kind.html === true && tracker !== undefined ? tracker.settings(organizationId) : NO_TRACKING
}

/** Why the message needs no text. Null: it does. */
function endedBefore(job: NotificationJob, { verdict }: Judged): NotificationFailure | null {
  const { turnedOff } = job.notification.content
  if (turnedOff !== undefined) return skipped(turnedOff)
  if (verdict.kind === 'refuse') return { code: verdict.error.code, message: verdict.error.message }
  return verdict.kind === 'skip' ? skipped(verdict) : null
}

function skipped({ decidedBy, message }: Skip): NotificationFailure {
  return { code: 'opted_out', message, decidedBy }
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

interface Connections {
  readonly tracking: Tracking
  /** Null: it answers none, or one whose thread is unknown. */
  readonly threadId: string | null
}

/** What a message is rendered with. */
interface Rendered {
  readonly category: Category
  /** Null: it has none. */
  readonly template: CompiledTemplate | null
  readonly connections: Connections
}

/** The text to send, or the reason why there is none. */
function* render(
  kind: ChannelKind,
  job: NotificationJob,
  { category, template, connections: { tracking, threadId } }: Rendered,
  composition: Composition,
): Steps<ComposedMessage | NotificationFailure> {
  const { to, content, metadata } = job.notification
  const { links } = composition
  try {
    const parts = renderParts(kind, job, content, category, threadId, links)
    const text = renderContent(kind, content, template, urlsOf(kind, job, links))
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
  { tracker, logger }: Composition,
  tracking: Tracking,
): Steps<Message> {
  if (tracker === undefined || message.format !== 'html' || !(tracking.opens || tracking.clicks))
    return message
  const { body } = message
  yield
  const { html, complete } = yield* tracker.track(notificationId, body, tracking)
  if (!complete) {
    const some =
      'A mail has more links than the option "bounds.trackedLinks": clicks on the others are not counted.'
    logger.warn(some, { notificationId, organizationId })
  }
  return { ...message, body: html, untracked: body }
}
