export type { WebhookMessageEvent } from '../core/channels/webhook-message.ts'
export type { EndpointEvent } from '../core/delivery/endpoint-health.ts'
export type { ErrorCode } from '../core/errors/catalogue.ts'
export { isNotifierError, NotifierError } from '../core/errors/notifier-error.ts'
export type {
  NotificationCancelledEvent,
  NotificationEvent,
  NotificationEventData,
  NotificationFailedEvent,
  NotificationSkippedEvent,
} from '../core/notification/event-payload.ts'
export type { OwnProviderEvent } from '../core/notification/provider-event.ts'
export type { MessageReceivedEvent } from '../core/notification/received-message.ts'
export type { WebhookDelivery, WebhookEvent, WebhookTestEvent } from './event.ts'
export type { ExpressReceiver } from './express.ts'
export { expressReceiver } from './express.ts'
export type { FastifyReceiver } from './fastify.ts'
export { fastifyReceiver } from './fastify.ts'
export type { FetchReceiver } from './fetch.ts'
export { fetchReceiver } from './fetch.ts'
export type { WebhookHeaders } from './headers.ts'
export type { KoaReceiver } from './koa.ts'
export { koaReceiver } from './koa.ts'
export type { ReceiverOptions } from './receive.ts'
export type { VerifyOptions } from './verify.ts'
export { verifyWebhook } from './verify.ts'
