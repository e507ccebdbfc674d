import type { Outcome } from '../../../src/core/notification/outcome.ts'
import {
  byStatus,
  type Classification,
  member,
  type ProviderAnswer,
  refuse,
  rowOf,
  textMember,
} from '../kit/http/provider-answer.ts'

const unknownPlace: Classification = ['rejected', 'channel_not_found', 'recipient']
const notMember: Classification = ['rejected', 'bot_not_in_channel', 'recipient']
const badToken: Classification = ['rejected', 'invalid_slack_token', 'account']
const restrictedPlace: Classification = ['rejected', 'posting_restricted', 'recipient']
const restrictedApp: Classification = ['rejected', 'posting_restricted', 'account']
const tooLarge: Classification = ['rejected', 'message_too_large', 'message']
const badContent: Classification = ['rejected', 'invalid_content', 'message']
const throttled: Classification = ['retry', 'provider_rate_limited', 'account']
const down: Classification = ['retry', 'provider_unavailable', 'provider']

/** Pause after a workspace has used up its plan's messages. */
const LIMIT_MS = 3_600_000

/**
 * Errors of `chat.postMessage` (https://docs.slack.dev/reference/methods/chat.postMessage). They come with HTTP 200.
 *
 * @internal exported for tests
 */
export const SLACK_ERRORS: Readonly<Record<string, Classification>> = {
  channel_not_found: unknownPlace,
  team_not_found: unknownPlace,
  user_not_found: unknownPlace,
  not_in_channel: notMember,
  no_permission: notMember,
  is_archived: ['rejected', 'channel_archived', 'recipient'],

  invalid_auth: badToken,
  not_authed: badToken,
  token_revoked: badToken,
  token_expired: badToken,
  account_inactive: badToken,
  not_allowed_token_type: badToken,
  missing_scope: badToken,
  team_access_not_granted: badToken,
  // Messages carry metadata, which only app tokens may send.
  metadata_must_be_sent_from_app: badToken,
  deprecated_endpoint: ['rejected', 'provider_error', 'account'],
  method_deprecated: ['rejected', 'provider_error', 'account'],
  // The organization is being migrated, which is temporary.
  org_login_required: ['retry', 'provider_unavailable', 'account'],
  ekm_access_denied: restrictedApp,
  app_access_restricted: restrictedApp,
  enterprise_is_restricted: restrictedApp,
  accesslimited: restrictedApp,
  two_factor_setup_required: restrictedApp,
  access_denied: restrictedPlace,
  restricted_action: restrictedPlace,
  messages_tab_disabled: restrictedPlace,
  cannot_reply_to_message: restrictedPlace,
  send_on_behalf_not_allowed: restrictedPlace,

  msg_too_long: tooLarge,
  msg_blocks_too_long: tooLarge,
  attachment_payload_limit_exceeded: tooLarge,
  too_many_attachments: tooLarge,
  metadata_too_large: tooLarge,
  no_text: badContent,
  invalid_blocks: badContent,
  invalid_blocks_format: badContent,
  invalid_charset: badContent,
  invalid_form_data: badContent,
  invalid_post_type: badContent,
  missing_post_type: badContent,
  markdown_text_conflict: badContent,

  ratelimited: throttled,
  rate_limited: throttled,
  message_limit_exceeded: throttled,
  service_unavailable: down,
  request_timeout: down,
  team_added_to_org: down,
  // "It's possible some aspect of the operation succeeded before the error was raised."
  internal_error: ['ambiguous', 'provider_unavailable', 'provider'],
  fatal_error: ['ambiguous', 'provider_unavailable', 'provider'],
}

/** Error families, by prefix. */
const FAMILIES: readonly (readonly [name: RegExp, classification: Classification])[] = [
  [/^restricted_action/, restrictedPlace],
  [/^slack_connect_.*_blocked$/, restrictedPlace],
  [/^invalid_(?:metadata|arg)/, badContent],
]

/** The outcome of an answer to the Web API: `{ ok: true, channel, ts }` or `{ ok: false, error }`. */
export function slackOutcome(answer: ProviderAnswer): Outcome | null {
  const ok = member(answer.json, 'ok')
  if (ok === true) {
    const channel = textMember(answer.json, 'channel')
    const ts = textMember(answer.json, 'ts')
    return channel === undefined || ts === undefined
      ? null
      : { kind: 'accepted', providerMessageId: `${channel}:${ts}` }
  }
  const code = textMember(answer.json, 'error')
  if (ok !== false || code === undefined) return null
  return refuse(
    answer,
    {
      code,
      message: wordsOf(answer, code),
      retryAfterMs: code === 'message_limit_exceeded' ? LIMIT_MS : undefined,
    },
    classify(code, answer.status),
  )
}

function classify(code: string, status: number): Classification {
  const known = rowOf(SLACK_ERRORS, code)
  if (known !== undefined) return known
  const family = FAMILIES.find(([name]) => name.test(code))
  return family?.[1] ?? (status === 200 ? ['rejected', 'provider_error', 'message'] : byStatus(status))
}

/** Slack's details in addition to its code: the invalid field, the missing scope. */
function wordsOf({ json }: ProviderAnswer, code: string): string {
  const messages = member(member(json, 'response_metadata'), 'messages')
  const needed = textMember(json, 'needed')
  const more = Array.isArray(messages) ? messages.filter((one) => typeof one === 'string') : []
  return [`Slack answered ${code}`, ...(needed === undefined ? [] : [`needed: ${needed}`]), ...more].join(
    '; ',
  )
}

/**
 * Error texts of incoming webhooks, whose HTTP status is not specific.
 *
 * @internal exported for tests
 */
export const SLACK_WEBHOOK_ERRORS: Readonly<Record<string, Classification>> = {
  invalid_payload: badContent,
  no_text: badContent,
  invalid_blocks: badContent,
  too_many_attachments: badContent,
  user_not_found: unknownPlace,
  channel_not_found: unknownPlace,
  channel_is_archived: ['rejected', 'channel_archived', 'recipient'],
  action_prohibited: restrictedPlace,
  posting_to_general_channel_denied: restrictedPlace,
  invalid_token: badToken,
  no_service: badToken,
  no_service_id: badToken,
  no_active_hooks: badToken,
  no_team: badToken,
  team_disabled: badToken,
  rollup_error: down,
}

/** The outcome of an answer to an incoming webhook: the text `ok`, or the name of an error. */
export function slackWebhookOutcome(answer: ProviderAnswer): Outcome | null {
  const text = answer.text.trim()
  if (answer.status === 200 && text === 'ok') return { kind: 'accepted' }
  const verdict = rowOf(SLACK_WEBHOOK_ERRORS, text)
  if (answer.status < 400 || verdict === undefined) return null
  return refuse(answer, { code: text, message: `Slack answered ${text}` }, verdict)
}
