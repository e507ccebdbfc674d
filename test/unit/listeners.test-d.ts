import { expectTypeOf, it } from 'vitest'
import type { ErrorCode, Notifier } from '../../src/index.ts'
import type { WebhookEvent } from '../../src/webhook-receiver/index.ts'

declare const notifier: Notifier

it('what failed says why, and nothing else does', () => {
  notifier.on('notification.failed', ({ data }) => expectTypeOf(data.error.code).toEqualTypeOf<ErrorCode>())
  notifier.on('notification.sent', ({ data }) => expectTypeOf(data.error).toEqualTypeOf<undefined>())
  const receive = (event: WebhookEvent): string =>
    event.event === 'notification.failed' ? event.data.error.code : event.data.id
  expectTypeOf(receive).returns.toEqualTypeOf<string>()
})

it('a message of the webhook channel is told from events by its type', () => {
  const receive = ({ event, data }: WebhookEvent): unknown => (event === 'webhook.message' ? data.body : null)
  expectTypeOf(receive).parameter(0).toEqualTypeOf<WebhookEvent>()
  // @ts-expect-error: events have no body
  const wrong = ({ data }: WebhookEvent): unknown => data.body
  expectTypeOf(wrong).toBeFunction()
})

it('one listener serves a loop over names', () => {
  for (const name of ['notification.failed', 'attempt.failed', 'provider.paused'] as const) {
    notifier.on(name, ({ event, data }) => {
      expectTypeOf(event).toEqualTypeOf<typeof name>()
      expectTypeOf(data.organizationId).toEqualTypeOf<string | null>()
    })
  }
})
