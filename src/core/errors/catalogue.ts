/** An entry of the error catalogue. */
export interface ErrorEntry {
  /** HTTP status of an answer with this error; 422 for codes that only providers produce. */
  readonly status: number
  /** The fault, in one sentence. */
  readonly message: string
  /** The remedy, in one sentence. */
  readonly action: string
  /** True: the same call may succeed later. */
  readonly retryable: boolean
}

type Row = readonly [status: number, message: string, action: string, retryable?: 'retryable']

/** Every code that Carillon can return, attach to a failed notification or throw. A code never changes its meaning. */
const ROWS = {
  missing_authorization: [
    401,
    'The request has no Authorization header.',
    'Send "Authorization: Bearer <API key>".',
  ],
  invalid_api_key: [401, 'The API key is malformed, unknown or deleted.', 'Use a valid key of this service.'],
  expired_api_key: [401, 'The API key has expired.', 'Create a new key and move the application to it.'],
  insufficient_permissions: [
    403,
    'The API key lacks the permission for this operation.',
    'Use a key with a higher permission level.',
  ],
  operator_key_required: [
    403,
    'The operation requires an operator key, and the key belongs to an organization.',
    'Use an operator key; the application creates one with notifier.operatorKeys.create().',
  ],
  organization_mismatch: [
    403,
    'The resource belongs to another organization.',
    'Use a key of the owning organization; in code, notifier.organization(id) with its id.',
  ],
  session_required: [
    401,
    'The request belongs to no session, or the session has ended.',
    'Sign in to the dashboard.',
  ],
  cross_site_request: [
    403,
    'The request came from another site.',
    'Use the dashboard in a browser that sends Sec-Fetch-Site or Origin, under one address.',
  ],
  https_required: [
    403,
    'Plain HTTP is not accepted.',
    'Repeat the request over HTTPS, and replace the key if it was sent in clear.',
  ],
  sensitive_content: [
    403,
    'The content is hidden, because the message is marked sensitive.',
    'Ask the sender for the text; this service never shows it.',
  ],
  ip_not_allowed: [
    403,
    'The API key may not be used from this address.',
    "Call from an address on the key's allow-list, or change the list.",
  ],

  invalid_email: [
    422,
    'The recipient is not a valid e-mail address.',
    'Send one plain address such as ada@example.com.',
  ],
  invalid_phone: [
    422,
    'The recipient is not a phone number in E.164 form.',
    'Send a plus sign, country code and digits, such as +14155550123.',
  ],
  invalid_recipient: [
    422,
    'The recipient is not valid for this channel.',
    'Send a recipient in the form that the channel expects.',
  ],
  missing_required_field: [422, 'A required field is missing.', 'Add the field that the message names.'],
  invalid_channel: [
    422,
    'The channel does not exist, or the template is for another channel.',
    'Use a configured channel, or the one of the template; the message names them.',
  ],
  invalid_template_variable: [
    422,
    'A variable of the template is missing or wrong.',
    'Correct the variables that the message names.',
  ],
  invalid_template: [
    422,
    'The template cannot be put together with its layout and partials.',
    'Correct the layout, partial or template that the message names.',
  ],
  missing_translation: [
    422,
    'No locale has a message that the template needs.',
    'Add the message to a catalogue of one of the locales that the message names.',
  ],
  template_not_found: [
    404,
    'The template does not exist.',
    'Check its name or id; a deleted template cannot be used.',
  ],
  unknown_attachment: [422, 'No upload has this id, or it has ended.', 'Upload the file again.'],
  storage_quota_exceeded: [
    422,
    'The organization stores as many bytes as its plan allows.',
    'Delete drafts, uploads, keys or categories, or upgrade the plan. Versions of texts stay after a deletion.',
  ],
  unknown_category: [422, 'The category does not exist.', 'Name another one, or create it.'],
  notification_not_found: [404, 'No notification has this id.', 'Check the id.'],
  not_found: [404, 'Nothing exists at this address.', 'Check the path and the id in it.'],
  method_not_allowed: [
    405,
    'The path exists, but not with this method.',
    'Use a method from the Allow header.',
  ],
  template_already_exists: [
    409,
    'A template with this name exists.',
    'Choose another name, or update the existing template.',
  ],
  category_already_exists: [
    409,
    'A category has this id or former id.',
    'Choose another id, or change the existing category.',
  ],
  version_conflict: [
    409,
    'The resource has changed since the given version.',
    'Read it again, and apply the change to the current version.',
  ],
  already_exists: [409, 'A resource with this identifier exists.', 'Choose another identifier.'],
  idempotency_in_progress: [
    409,
    'A request with this idempotency key is still running.',
    'Wait and repeat the same request.',
    'retryable',
  ],
  idempotency_key_reused: [
    422,
    'This idempotency key was used with another body.',
    'Repeat the first request with equal values, also of sendAt and expiresAt; use a new key only for a new message.',
  ],
  invalid_parameter: [
    400,
    'A parameter has a wrong type or value.',
    'Correct the field that the message names.',
  ],
  invalid_json: [400, 'The request body is not valid JSON.', 'Send one JSON object, encoded as UTF-8.'],
  unsupported_media_type: [415, 'The request body is not JSON.', 'Send "Content-Type: application/json".'],
  request_timeout: [
    408,
    'The request body did not arrive in time.',
    'Send the whole body without pausing.',
    'retryable',
  ],
  payload_too_large: [413, 'The request body is too large.', 'Send less in one request.'],
  endpoint_disabled: [
    409,
    'The webhook endpoint is disabled.',
    'Enable it first: set its status to "active".',
  ],
  text_in_use: [
    409,
    'The layout or partial is in use.',
    'Change the templates, layouts and partials that the message names, then delete it.',
  ],
  organization_in_use: [
    409,
    'The organization has waiting notifications or webhook events.',
    'Wait for their delivery, cancel them, or delete the organization with { force: true }, which removes them.',
    'retryable',
  ],
  endpoint_limit_reached: [
    409,
    'The organization has the maximum number of webhook endpoints.',
    'Delete an unused endpoint, or subscribe one endpoint to more events.',
  ],
  erasure_limit_reached: [
    409,
    'The organization has the maximum number of running erasures.',
    'Repeat the call when some of them have ended.',
    'retryable',
  ],
  key_limit_reached: [
    409,
    'The organization has the maximum number of API keys.',
    'Delete keys that are unused or expired.',
  ],
  key_already_rotated: [
    409,
    'The key was rotated before.',
    'Rotate the key that replaces it, or delete that key and repeat the rotation.',
  ],
  not_cancellable: [
    409,
    'The notification cannot be cancelled.',
    'If an attempt is running, cancel it while it waits for another one; otherwise it has ended.',
  ],
  not_reschedulable: [
    409,
    'The notification can no longer be rescheduled.',
    'Reschedule only notifications with the status scheduled, at most 100 times; otherwise cancel it and send a new message.',
  ],
  content_removed: [
    409,
    'The content was removed: the message is marked sensitive and its delivery has ended, a preference had turned it off and it was large, its days are over, or the person was erased.',
    'Send a new message.',
  ],
  not_retryable: [
    409,
    'The notification cannot be retried.',
    'Retry only failed notifications that have not expired; resend others.',
  ],

  rate_limit_exceeded: [
    429,
    'Too many requests in the window.',
    'Wait for the number of seconds in Retry-After; in code, for the milliseconds in retryAfterMs.',
    'retryable',
  ],
  notification_quota_exceeded: [
    429,
    'The monthly notification quota is used up.',
    'Wait for the next month, or upgrade the plan.',
  ],
  internal_server_error: [
    500,
    'An unexpected error occurred.',
    'Repeat the request; report the request id if it happens again.',
    'retryable',
  ],
  service_unavailable: [
    503,
    'The service is temporarily unavailable.',
    'Repeat the request after the number of seconds in Retry-After.',
    'retryable',
  ],

  wait_timeout: [
    504,
    'The notification had no result in time.',
    'Wait longer, or check its timeline and the health of the notifier.',
    'retryable',
  ],
  invalid_configuration: [500, 'An option is wrong.', 'Correct the option that the message names.'],
  invalid_transaction: [
    500,
    'The transaction cannot be used.',
    'Pass an open transaction on the database of the storage.',
  ],
  body_already_read: [
    500,
    'A body parser of the application has read this request, and its bytes are needed as they came.',
    'Mount Carillon before the parser, or let the parser keep the bytes as "rawBody"; in NestJS, with { rawBody: true }.',
  ],
  missing_peer: [
    500,
    'An optional package is not installed.',
    'Run the install command in the message. For a bundle, see "Bundlers" in docs/reference/runtimes.md.',
  ],
  not_started: [
    503,
    'The notifier is not running.',
    'Call start() first. After stop(), when calls fail with service_unavailable, create a new notifier.',
    'retryable',
  ],
  invalid_sender: [
    422,
    'The sender address is not verified or not accepted.',
    "Verify the sender with the provider, or correct 'from'.",
  ],
  blocked_recipient: [
    422,
    'The recipient bounced or complained before, or blocks this sender.',
    'Stop sending to this recipient.',
  ],
  spam_detected: [
    422,
    'The content was flagged as spam.',
    'Change the content; check the reputation of the sender.',
  ],
  invalid_phone_number: [422, 'The number is invalid or unsupported.', 'Correct the number.'],
  unsubscribed: [422, 'The recipient opted out.', 'Stop sending to this recipient.'],
  unknown_recipient: [
    422,
    'The application knows no person with this id.',
    'Correct the id, or name an address as "to".',
  ],
  invalid_person: [422, 'The data of this person is wrong.', "Look into the operator's error log."],
  no_address: [
    422,
    'The person has no address on the channel.',
    'Use another channel, or ask the person for an address.',
  ],
  blocked_by_provider: [422, 'The provider has the recipient on its own list.', 'Remove it from that list.'],
  opted_out: [422, 'A preference turns this message off.', 'Do nothing: the recipient does not want it.'],
  carrier_blocked: [
    422,
    'The carrier rejected the message.',
    'Check the content rules and the sender registration of the country.',
  ],
  channel_not_found: [422, 'The channel or thread does not exist.', 'Check its id or name.'],
  bot_not_in_channel: [422, 'The bot is not a member of the channel.', 'Invite the bot to the channel.'],
  invalid_slack_token: [
    422,
    'The Slack token is invalid or revoked.',
    'Install the app again and use the new token.',
  ],
  mailbox_full: [422, "The recipient's mailbox is full.", 'Try again later.'],
  message_too_large: [422, 'The message is larger than the receiver accepts.', 'Send a shorter message.'],
  content_rejected: [422, 'The provider refused the content.', 'Change the content.'],
  recipient_unreachable: [422, 'The recipient cannot be reached now.', 'Try again later.'],
  landline: [422, 'The number is a landline and cannot receive text messages.', 'Use a mobile number.'],
  region_not_permitted: [
    422,
    'Sending to this region is not enabled.',
    "Enable the region with the provider, or in the organization's smsCountries.",
  ],
  sender_not_registered: [
    422,
    'The sender is not registered for this destination.',
    'Register the sender with the provider.',
  ],
  device_unregistered: [422, 'The device token is no longer registered.', 'Delete the token.'],
  invalid_device_token: [
    422,
    'The device token is not valid.',
    'Delete the token, or check whether it is for the sandbox or for production.',
  ],
  topic_mismatch: [
    422,
    'The token belongs to another app or project.',
    "Use the credentials of the token's app.",
  ],
  channel_not_configured: [
    422,
    'The channel has no provider here, so the notification waits.',
    'Configure the channel again, or cancel the notification.',
  ],
  provider_auth_failed: [
    422,
    'The provider refused the credentials.',
    'Correct the credentials of this provider.',
  ],
  provider_rate_limited: [
    422,
    'The provider limits the rate of messages.',
    'Lower the rate, or ask the provider for a higher limit.',
  ],
  provider_quota_exceeded: [
    422,
    'The quota with the provider is used up.',
    'Wait for its reset, or raise it.',
  ],
  provider_suspended: [422, 'The account with the provider is suspended.', 'Contact the provider.'],
  provider_unavailable: [
    422,
    'The provider cannot be reached or has failed.',
    'The message is retried. If it does not pass, read the message of the error: the network or a proxy may refuse.',
  ],
  provider_error: [
    422,
    'The provider refused the message for a reason without a code here.',
    "Look at the provider's own code.",
  ],
  expired: [
    422,
    'The notification expired before it could be delivered.',
    'Send it again with a later expiry.',
  ],
  delivery_unknown: [
    422,
    'It is unknown whether the provider accepted the message.',
    'Check with the provider before sending it again.',
  ],
  attempts_exhausted: [
    422,
    'All attempts failed.',
    'Check the attempts, remove the cause, and send it again.',
  ],
  channel_archived: [422, 'The channel or thread is archived.', 'Use another one.'],
  posting_restricted: [
    422,
    'Posting to this channel is not permitted.',
    'Ask an administrator for the permission.',
  ],
  invalid_content: [422, 'The provider cannot accept this content.', 'Correct the content.'],
  template_error: [422, 'The message could not be rendered.', 'Correct the template or its variables.'],
  endpoint_error: [422, 'The receiving endpoint failed.', 'Check the endpoint.'],
  endpoint_timeout: [
    422,
    'The receiving endpoint did not answer in time.',
    'Answer within 5 seconds, and process the event afterwards.',
  ],
  endpoint_gone: [422, 'The receiving endpoint answered 410 Gone.', 'Register a new endpoint.'],
  blocked_address: [422, 'The address is not public.', 'Use a public https address without credentials.'],
  invalid_receipt_signature: [
    401,
    'The origin of the receipt is not proven.',
    'Check the secret or key that the provider signs with, and for some providers the option "publicUrl".',
  ],
  invalid_webhook_signature: [
    401,
    'The webhook is not signed with this secret.',
    'Check the secret of the endpoint, and that the body is verified as it came.',
  ],
  webhook_timestamp_out_of_range: [
    401,
    'The webhook was signed too long ago, or in the future.',
    "Check this machine's clock; a repetition by the sender carries a new time.",
  ],
} as const

/** A code of a plug-in: the name of the plug-in, a dot, and the plug-in's own code. */
export type PluginErrorCode = `${string}.${string}`

/** A stable code from the catalogue, or of a plug-in. */
export type ErrorCode = CatalogueCode | PluginErrorCode

type CatalogueCode = keyof typeof ROWS

/** The catalogue by code. */
export const ERRORS: Readonly<Record<CatalogueCode, ErrorEntry>> = Object.fromEntries(
  Object.entries<Row>(ROWS).map(([code, [status, message, action, retryable]]) => [
    code,
    { status, message, action, retryable: retryable !== undefined },
  ]),
) as Record<CatalogueCode, ErrorEntry>

/** Whether a value is a code of the catalogue. */
export function isErrorCode(value: unknown): value is CatalogueCode {
  return typeof value === 'string' && Object.hasOwn(ERRORS, value)
}

/** The page about a code, as an application has it on disk. Undefined: the code is of a plug-in. */
export function pageOf(code: string): string | undefined {
  return isErrorCode(code) ? `node_modules/carillon/docs/reference/errors/${code}.md` : undefined
}

/** The default message of a code: the fault and the remedy. */
export function standardMessage(code: ErrorCode): string {
  const { message, action } = entryOf(code)
  return `${message} ${action}`
}

const OF_PLUGIN: ErrorEntry = {
  status: 422,
  message: 'A plug-in refuses this.',
  action: "Read the plug-in's documentation of the code.",
  retryable: false,
}

/** The form of a code of a plug-in. */
export const PLUGIN_CODE: RegExp = /^[a-z]+\.[a-z][a-z0-9_]*$/

/** Whether a value has the form of a code of a plug-in. */
export function isPluginCode(value: unknown): value is PluginErrorCode {
  return typeof value === 'string' && PLUGIN_CODE.test(value)
}

/** The entry of a code. A plug-in's errors bring their own message and status. */
export function entryOf(code: ErrorCode): ErrorEntry {
  return isErrorCode(code) ? ERRORS[code] : OF_PLUGIN
}
