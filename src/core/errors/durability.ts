/** How long a cause of a failure lasts. `fixable`: until somebody changes something. */
export type Durability = 'permanent' | 'passing' | 'fixable'

const KNOWN: Readonly<Record<string, Durability>> = {
  invalid_email: 'permanent',
  invalid_phone: 'permanent',
  invalid_phone_number: 'permanent',
  invalid_recipient: 'permanent',
  landline: 'permanent',
  device_unregistered: 'permanent',
  invalid_device_token: 'permanent',
  endpoint_gone: 'permanent',
  blocked_address: 'permanent',
  message_too_large: 'permanent',
  content_rejected: 'permanent',
  invalid_content: 'permanent',
  mailbox_full: 'passing',
  recipient_unreachable: 'passing',
  provider_rate_limited: 'passing',
  provider_quota_exceeded: 'passing',
  provider_unavailable: 'passing',
  endpoint_error: 'passing',
  endpoint_timeout: 'passing',
}

/** Of a code that a notification failed with. With a permanent one, the same message to the same address fails again. */
export function durabilityOf(code: string): Durability {
  return KNOWN[code] ?? 'fixable'
}
