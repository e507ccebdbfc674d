import type { ChannelKind } from './channel-kind.ts'
import { type EmailKind, emailKind } from './email.ts'
import type { EmailInput } from './email-content.ts'
import type { NumberCheck } from './phone-number.ts'
import { type PushContent, type PushKind, push } from './push.ts'
import { type SlackContent, type SlackKind, slack } from './slack.ts'
import { type SmsContent, type SmsKind, smsKind } from './sms.ts'
import { type WebhookKind, webhook } from './webhook.ts'

type BuiltInKind = EmailKind | SmsKind | PushKind | SlackKind | WebhookKind

/** Parts of messages on the built-in channels. */
export interface BuiltInInputs {
  readonly email: EmailInput
  readonly sms: SmsContent
  readonly push: PushContent
  readonly slack: SlackContent
  readonly webhook: never
}

/** Application settings of the built-in kinds. */
export interface KindSettings {
  /** Names in lower case. */
  readonly allowedHeaders: ReadonlySet<string>
  readonly maxSmsSegments: number
  readonly smsNumbers: NumberCheck
}

const DEFAULTS: KindSettings = { allowedHeaders: new Set(), maxSmsSegments: 10, smsNumbers: 'possible' }

/** Names of the built-in channels. */
export const BUILT_IN: ReadonlySet<string> = new Set(['email', 'sms', 'push', 'slack', 'webhook'])

/** The five built-in channels, by name. */
export function builtInKinds(settings: KindSettings = DEFAULTS): ReadonlyMap<string, ChannelKind> {
  const kinds: readonly BuiltInKind[] = [
    emailKind(settings.allowedHeaders),
    smsKind(settings),
    push,
    slack,
    webhook,
  ]
  return new Map(kinds.map((kind) => [kind.name, kind]))
}

/** Electronic mail. */
export const email: EmailKind = emailKind(DEFAULTS.allowedHeaders)
/** Text messages. */
export const sms: SmsKind = smsKind(DEFAULTS)
export { push, slack, webhook }
