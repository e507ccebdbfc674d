import type { Feature, TogetherOf } from '../../core/feature.ts'
import type { Webhooks } from './api.ts'
import type { Served } from './routes.ts'
import { createEventDeliveries, createWebhookEndpoints, type WebhookServices } from './service.ts'

/** Events of notifications for endpoints of their organizations. */
export const webhookEvents: Feature<Served & TogetherOf<{ readonly webhooks: Webhooks }>, WebhookServices> = {
  name: 'webhook-events',
  create(core) {
    const webhooks = createWebhookEndpoints(core)
    const tenants = { webhooks, notifications: createEventDeliveries(core.storage) }
    return { api: { tenants, together: { webhooks } } }
  },
}
