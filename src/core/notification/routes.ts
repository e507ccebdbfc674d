import type { Sends } from '../accept/api.ts'
import { batchInput, type SendInput, sendInput } from '../accept/input.ts'
import type { SentNotification } from '../accept/model.ts'
import { SENT_BY, type SentBy } from '../accept/refused.ts'
import { NotifierError } from '../errors/notifier-error.ts'
import { parseInput } from '../input/parse.ts'
import {
  type HandlerResult,
  type RequestContext,
  type Route,
  type RouteError,
  routesOf,
  type Tag,
  type TenantsOf,
} from '../rest/route.ts'
import { idempotencyKey, isTestMode } from '../rest/send-headers.ts'
import type { Notifications } from './api.ts'
import { notificationQuery, notificationViewQuery } from './query-schemas.ts'
import { type RescheduleInput, rescheduleInput } from './reschedule-input.ts'
import {
  batchResult,
  notificationList,
  notificationRecord,
  sentNotification,
  validatedSend,
} from './schemas.ts'

/** The methods of a notifier that the handlers use. */
type Served = TenantsOf<Sends & { readonly notifications: Notifications }> & {
  /** Records that the text of a message was shown. */
  recordContentRead(organizationId: string, notificationId: string): Promise<void>
}

const EXAMPLE_TIME = '2026-11-21T12:00:00.000Z'

const EXAMPLE_ID = 'notif_1795262400000041331242462190785316'
/** Of one group. */
const EXAMPLE_IDS = [
  'notif_1795262400000041331242462190785317',
  'notif_1795262400000041331242462190785318',
] as const

export const NOTIFICATIONS_TAG: Tag = {
  name: 'Notifications',
  description: 'Send notifications and follow their delivery.',
}

const REPLAYED = { 'Idempotent-Replayed': 'true' }

async function send(context: RequestContext, { tenants }: Served): Promise<HandlerResult> {
  const { request, organizationId } = context
  const key = idempotencyKey(request)
  // Untyped: the notifier parses it with `sendInput`, as for untyped callers.
  const message = context.body as unknown as SendInput
  const options = { idempotencyKey: key, strict: context.strict }
  if (isTestMode(request)) {
    return { status: 200, body: await tenants.validate(organizationId, message, options) }
  }
  const sending = { ...options, [SENT_BY]: sentBy(context) }
  return sent(await tenants.send(organizationId, message, sending))
}

function sentBy({ caller }: RequestContext): SentBy | undefined {
  return caller === null ? undefined : { id: caller.id, name: caller.name ?? null }
}

function sent({ replayed, ...body }: SentNotification): HandlerResult {
  return replayed ? { body, headers: REPLAYED } : { body }
}

async function sendBatch(context: RequestContext, { tenants }: Served): Promise<HandlerResult> {
  const { request, organizationId } = context
  const key = idempotencyKey(request)
  const sending = { idempotencyKey: key, strict: context.strict, [SENT_BY]: sentBy(context) }
  const { replayed, ...body } = await tenants.sendBatch(organizationId, batchItems(context.body), sending)
  return replayed ? { body, headers: REPLAYED } : { body }
}

/** Checks only that there is a list. The notifier validates each item. */
function batchItems({ notifications }: RequestContext['body']): readonly SendInput[] {
  if (Array.isArray(notifications)) return notifications
  const field = 'notifications'
  if (notifications === undefined) {
    throw new NotifierError('missing_required_field', {
      message: `The field "${field}" is required.`,
      details: { field },
    })
  }
  throw new NotifierError('invalid_parameter', {
    message: `The field "${field}" must be an array.`,
    details: { field, expected: 'array' },
    status: 422,
  })
}

async function list(context: RequestContext, { tenants }: Served): Promise<HandlerResult> {
  const query = parseInput(notificationQuery, context.query, 'query')
  return {
    body: await tenants.notifications.list(context.organizationId, query),
  }
}

async function get(context: RequestContext, { tenants, recordContentRead }: Served): Promise<HandlerResult> {
  const { params, organizationId } = context
  const { rendered } = parseInput(notificationViewQuery, context.query, 'query')
  const body = await tenants.notifications.get(organizationId, params.id ?? '', { rendered })
  if (rendered) await recordContentRead(organizationId, body.id)
  return { body }
}

async function reschedule(
  { params, body, organizationId }: RequestContext,
  { tenants }: Served,
): Promise<HandlerResult> {
  // Untyped: the notifier parses it with `rescheduleInput`.
  const change = body as unknown as RescheduleInput
  return { body: await tenants.notifications.reschedule(organizationId, params.id ?? '', change) }
}

async function resend(
  { params, request, organizationId }: RequestContext,
  { tenants }: Served,
): Promise<HandlerResult> {
  const options = { idempotencyKey: idempotencyKey(request) }
  return sent(await tenants.notifications.resend(organizationId, params.id ?? '', options))
}

const IDEMPOTENCY_ERRORS: readonly RouteError[] = ['idempotency_key_reused', 'idempotency_in_progress']
const SUPPRESSED: readonly RouteError[] = ['blocked_recipient', 'unsubscribed']
const SEND_ERRORS: readonly RouteError[] = [
  ['invalid_parameter', 422],
  'missing_required_field',
  'invalid_channel',
  'invalid_email',
  'invalid_phone',
  'invalid_recipient',
  'unknown_recipient',
  'invalid_person',
  'invalid_configuration',
  ['template_not_found', 422],
  ['notification_not_found', 422],
  'invalid_template_variable',
  'message_too_large',
  'blocked_address',
  'region_not_permitted',
  'invalid_sender',
  'unknown_attachment',
  'unknown_category',
  ...SUPPRESSED,
  'notification_quota_exceeded',
  ...IDEMPOTENCY_ERRORS,
]

export const notificationRoutes: readonly Route<Served>[] = routesOf(
  { tag: NOTIFICATIONS_TAG, belongsTo: 'organization' },
  [
    {
      operation: 'sendNotification',
      summary: 'Send one notification; with X-Test-Mode: true only validate it',
      method: 'POST',
      paths: ['/v1/notifications', '/v1/notify'],
      permission: 'Write',
      status: 201,
      errors: SEND_ERRORS,
      requestHeaders: ['Idempotency-Key', 'X-Test-Mode'],
      body: sendInput,
      response: sentNotification,
      otherwise: { status: 200, when: 'Validated in test mode.', response: validatedSend },
      example: {
        request: {
          channel: 'email',
          to: 'ada@example.com',
          template: 'welcome-email',
          variables: { name: 'Ada' },
          email: {
            replyTo: 'help@example.com',
            attachments: [{ filename: 'terms.txt', contentType: 'text/plain', content: 'SGVsbG8K' }],
          },
        },
        response: {
          id: EXAMPLE_ID,
          status: 'queued',
          channel: 'email',
          to: 'ada@example.com',
          createdAt: EXAMPLE_TIME,
        },
      },
      handler: send,
    },
    {
      operation: 'sendBatch',
      summary: 'Send up to 10,000 notifications, each validated by itself',
      method: 'POST',
      paths: ['/v1/notifications/batch'],
      permission: 'Write',
      status: 201,
      errors: [
        ['invalid_parameter', 422],
        'missing_required_field',
        'invalid_configuration',
        ...IDEMPOTENCY_ERRORS,
      ],
      requestHeaders: ['Idempotency-Key'],
      delivers: true,
      body: batchInput,
      bodySize: 'batch',
      response: batchResult,
      example: {
        request: {
          notifications: [
            { to: 'ada@example.com', template: 'welcome-email', variables: { name: 'Ada' } },
            { channel: 'email', to: 'nobody', body: 'Hello!' },
            {
              recipient: 'user:42',
              channels: ['push', 'email'],
              subject: 'Shipped',
              html: '<p>Your order is on its way.</p>',
              text: 'Your order is on its way.',
            },
          ],
        },
        response: {
          accepted: 2,
          rejected: 1,
          items: [
            { index: 0, id: EXAMPLE_ID, status: 'queued' },
            {
              index: 1,
              error: { code: 'invalid_email', message: 'The recipient is not a valid e-mail address.' },
            },
            {
              index: 2,
              id: EXAMPLE_IDS[0],
              status: 'queued',
              groupId: 'grp_V1StGXR8_Z5jdHi6B-myT1',
              ids: EXAMPLE_IDS,
            },
          ],
          createdAt: EXAMPLE_TIME,
        },
      },
      handler: sendBatch,
    },
    {
      operation: 'listNotifications',
      allOrganizations: true,
      summary: 'List notifications, newest first',
      method: 'GET',
      paths: ['/v1/notifications'],
      permission: 'Read Only',
      errors: ['invalid_channel'],
      query: notificationQuery,
      response: notificationList,
      handler: list,
    },
    {
      operation: 'getNotification',
      summary: 'Get one notification with its timeline',
      method: 'GET',
      paths: ['/v1/notifications/{id}'],
      permission: 'Read Only',
      unknown: 'notification_not_found',
      errors: ['sensitive_content', 'content_removed'],
      query: notificationViewQuery,
      queryGrants: { rendered: 'content' },
      audited: ['notification.content_read'],
      response: notificationRecord,
      handler: get,
    },
    {
      operation: 'cancelNotification',
      summary: 'Cancel a notification that waits for an attempt',
      method: 'POST',
      paths: ['/v1/notifications/{id}/cancel'],
      permission: 'Write',
      unknown: 'notification_not_found',
      errors: ['not_cancellable'],
      response: notificationRecord,
      handler: async ({ params, organizationId }, { tenants }) => ({
        body: await tenants.notifications.cancel(organizationId, params.id ?? ''),
      }),
    },
    {
      operation: 'rescheduleNotification',
      summary: 'Change the time of a scheduled notification, or send it now',
      method: 'POST',
      paths: ['/v1/notifications/{id}/reschedule'],
      permission: 'Write',
      unknown: 'notification_not_found',
      errors: ['missing_required_field', 'not_reschedulable'],
      delivers: true,
      body: rescheduleInput,
      response: notificationRecord,
      handler: reschedule,
    },
    {
      operation: 'resendNotification',
      summary: 'Resend a message as a new notification',
      method: 'POST',
      paths: ['/v1/notifications/{id}/resend'],
      permission: 'Write',
      status: 201,
      unknown: 'notification_not_found',
      errors: [
        'content_removed',
        'invalid_channel',
        'invalid_recipient',
        'region_not_permitted',
        ...SUPPRESSED,
        'notification_quota_exceeded',
        ...IDEMPOTENCY_ERRORS,
      ],
      requestHeaders: ['Idempotency-Key'],
      delivers: true,
      response: sentNotification,
      handler: resend,
    },
  ],
)
