import type { AnyTemplate, DeclaredTemplates } from '../accept/declared-templates.ts'
import type { AnyChannel, ChannelParts, SendInput } from '../accept/input.ts'
import type { SendOptions } from '../accept/options.ts'
import type { Explanation } from './model.ts'

/** Explanations of one organization. */
export interface Explanations<
  Channels extends ChannelParts = AnyChannel,
  Templates extends DeclaredTemplates = AnyTemplate,
> {
  /**
   * Says of every gate in order what it decides about a message that is not sent. Stores nothing and counts nothing. One
   * explanation for each address: a person may have several.
   *
   * @throws NotifierError `invalid_parameter` for a message of the wrong form, `not_found` for an unknown organization,
   *   `service_unavailable`. What else is wrong with the message is part of the explanation
   *
   * @example
   * const [explanation] = await notifier.explain({ channel: 'email', to: 'ada@example.com', subject: 'Hi', body: 'Hello' })
   * for (const { gate, result, message } of explanation?.gates ?? []) console.log(gate, result, message)
   */
  explain(
    message: SendInput<Channels, Templates>,
    options?: Pick<SendOptions, 'strict'>,
  ): Promise<readonly Explanation[]>
}

/** Explanations of stored notifications. */
export interface NotificationExplanations {
  /**
   * Says of every gate in order what it decided about a notification: as recorded, where it was recorded; otherwise as it would
   * be now.
   *
   * @throws NotifierError `notification_not_found`, `organization_mismatch`
   *
   * @example
   * const { decidedBy, gates } = await notifier.notifications.explain('notif_1234')
   * console.log(decidedBy, gates.find(({ gate }) => gate === decidedBy)?.message)
   */
  explain(id: string): Promise<Explanation>
}
