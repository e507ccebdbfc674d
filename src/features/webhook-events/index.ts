import type { Feature } from '../../core/feature.ts'
import type { Served } from './routes.ts'
import { createEventDeliveries, createWebhookEndpoints, type WebhookServices } from './service.ts'

/** Events of notifications for endpoints of their organizations. */
export const webhookEvents: Feature<Served, WebhookServices> = {
  name: 'webhook-events',
  create: (core) => ({
    api: {
      tenants: { webhooks: createWebhookEndpoints(core), notifications: createEventDeliveries(core.storage) },
    },
  }),
}
