import { type SendInput, sendInput } from '../accept/input.ts'
import { NOTIFICATIONS_TAG } from '../notification/routes.ts'
import { type RequestContext, type Route, routesOf, type TenantsOf } from '../rest/route.ts'
import type { Explanations, NotificationExplanations } from './api.ts'
import { explanation, explanations } from './schemas.ts'

/** The methods of a notifier that the handlers use. */
type Served = TenantsOf<Explanations & { readonly notifications: NotificationExplanations }>

async function explainMessage({ body, organizationId, strict }: RequestContext, { tenants }: Served) {
  // Untyped: the notifier parses it with `sendInput`.
  const message = body as unknown as SendInput
  return { body: { explanations: await tenants.explain(organizationId, message, { strict }) } }
}

async function explainNotification({ params, organizationId }: RequestContext, { tenants }: Served) {
  return { body: await tenants.notifications.explain(organizationId, params.id ?? '') }
}

export const explainRoutes: readonly Route<Served>[] = routesOf(
  { tag: NOTIFICATIONS_TAG, belongsTo: 'organization' },
  [
    {
      operation: 'explainNotification',
      summary: 'Say of every gate what it decides about a notification',
      method: 'GET',
      paths: ['/v1/notifications/{id}/explain'],
      permission: 'Read Only',
      unknown: 'notification_not_found',
      errors: ['notification_not_found'],
      response: explanation,
      handler: explainNotification,
    },
    {
      operation: 'explainMessage',
      summary: 'Say of every gate what it decides about a message that is not sent',
      method: 'POST',
      paths: ['/v1/explain'],
      permission: 'Write',
      body: sendInput,
      response: explanations,
      handler: explainMessage,
    },
  ],
)
