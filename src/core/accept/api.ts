import type { AnyTemplate, DeclaredTemplates } from './declared-templates.ts'
import type { AnyChannel, ChannelParts, SendInput } from './input.ts'
import type { BatchResult, SentNotification, ValidatedSend } from './model.ts'
import type { SendOptions } from './options.ts'

/** Sends of one organization. */
export interface Sends<
  Tx = never,
  Channels extends ChannelParts = AnyChannel,
  Templates extends DeclaredTemplates = AnyTemplate,
> {
  /**
   * Accepts one notification, or with `channels` one for each address of a person, as a group. Resolves when it is stored;
   * delivery follows.
   *
   * @throws NotifierError `missing_required_field`, `invalid_parameter`, `invalid_channel`, `invalid_email`,
   *   `invalid_phone`, `invalid_recipient`, `unknown_attachment`, `template_not_found` (422), `invalid_template_variable`,
   *   `message_too_large`, `region_not_permitted`, `invalid_sender`, `blocked_recipient` and `unsubscribed` for a suppressed recipient,
   *   `not_found` for an unknown organization, `idempotency_key_reused`, `idempotency_in_progress`,
   *   `rate_limit_exceeded`, `notification_quota_exceeded`, `service_unavailable`, `not_started`, and with `tx` also
   *   `invalid_transaction`
   *
   * @example
   * await notifier.send(
   *   { channel: 'email', to: 'ada@example.com', subject: 'Shipped', body: 'Order ord_123 is on its way.' },
   *   { idempotencyKey: 'shipped:ord_123' },
   * )
   *
   * @example
   * const { groupId, ids } = await notifier.send({
   *   recipient: 'user:42',
   *   channels: ['push', 'email'],
   *   subject: 'Shipped',
   *   text: 'Order ord_123 is on its way.',
   * })
   *
   * @example
   * await notifier.send({
   *   recipient: 'user:42',
   *   channels: ['push', 'email'],
   *   template: { push: 'shipped-push', email: 'shipped-mail' },
   *   variables: { order: 'ord_123' },
   * })
   */
  send(message: SendInput<Channels, Templates>, options?: SendOptions<Tx>): Promise<SentNotification>
  /**
   * Performs all checks of {@link send} in the same order, and renders the first message of a group; stores and sends nothing.
   *
   * @example
   * const { rendered } = await notifier.validate({
   *   to: 'ada@example.com',
   *   template: 'order-shipped',
   *   variables: { order: 'ord_123' },
   * })
   * console.log(rendered.subject, rendered.body)
   */
  validate(message: SendInput<Channels, Templates>, options?: SendOptions): Promise<ValidatedSend>
  /**
   * Accepts up to 10,000 notifications in one commit. Each is validated separately: an invalid one does not fail the
   * others. If their templates together are too large, expanded or not, the remaining messages with a template are
   * refused (`message_too_large`).
   *
   * @throws NotifierError `invalid_parameter` for an empty or too large batch
   *
   * @example
   * const { accepted, items } = await notifier.sendBatch([
   *   { to: 'ada@example.com', template: 'welcome', variables: { name: 'Ada' } },
   *   { to: 'alan@example.com', template: 'welcome', variables: { name: 'Alan' } },
   * ])
   * for (const item of items) if ('error' in item) console.error(item.index, item.error.code)
   */
  sendBatch(
    messages: readonly SendInput<Channels, Templates>[],
    options?: SendOptions<Tx>,
  ): Promise<BatchResult>
}
