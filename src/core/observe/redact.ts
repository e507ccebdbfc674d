/** Names of hidden fields, compared without case, hyphens and underscores. */
const HIDDEN: ReadonlySet<string> = new Set([
  'authorization',
  'proxyauthorization',
  'cookie',
  'setcookie',
  'xapikey',
  'credential',
  'credentials',
  'auth',
  'pass',
  'signature',
  'subject',
  'body',
  'htmlbody',
  'textbody',
  'html',
  'text',
  'content',
  'payload',
  'variables',
  'data',
  'blocks',
  'attachments',
])

/** Endings of most names of secrets: `webhookSecret`, `access_token`. */
const HIDDEN_ENDINGS: readonly string[] = [
  'secret',
  'secrets',
  'token',
  'tokens',
  'password',
  'passphrase',
  'apikey',
  'accesskey',
  'privatekey',
]

/** Names of fields that hold recipients. */
const RECIPIENT_KEYS: ReadonlySet<string> = new Set(['to', 'cc', 'bcc', 'recipient', 'recipients'])

const EMAIL = /([\p{L}\p{N}])[\p{L}\p{N}._%+-]{0,63}@([\p{L}\p{N}-]{1,63}(?:\.[\p{L}\p{N}-]{1,63})+)/gu
const PHONE = /\+[1-9]\d{6,14}(?!\d)/g
/** Recognizable credentials: HTTP authentication, Standard Webhooks secrets, API keys, user and password of a URL. */
const CREDENTIAL =
  /\b(Bearer|Basic)\s+[\w.~+/=-]{8,}|\bwhsec_[\w+/=-]+|\bcrl(?:op)?_[0-9A-Za-z]{20,}|(?<=:\/\/)[^\s/?#]+(?=@)/gi

const MAX_DEPTH = 6
const MAX_ENTRIES = 50
/** Maximum number of values per line. */
const MAX_VALUES = 1_000
const MAX_TEXT = 4_000
/** Removed where a text is cut, because the start of a cut credential is not recognizable. */
const MARGIN = 200

export interface RedactOptions {
  /** Do not mask recipients. */
  readonly showRecipients: boolean
}

/** The state while one line is redacted. */
interface Walk extends RedactOptions {
  readonly above: Set<object>
  /** Number of values that may still follow. */
  left: number
}

/**
 * A safe copy of a log line's fields: secrets and contents hidden, recipients masked, errors as plain data with their
 * causes, cycles cut, depth and size limited. Never throws.
 */
export function redactFields(
  fields: Readonly<Record<string, unknown>>,
  options: RedactOptions,
): Record<string, unknown> {
  const redacted = redactValue(fields, 0, { ...options, above: new Set(), left: MAX_VALUES })
  return typeof redacted === 'object' && redacted !== null ? (redacted as Record<string, unknown>) : {}
}

/** Hides credentials and masks recipients in a text. */
export function redactText(text: string, { showRecipients }: RedactOptions): string {
  const whole = text
    .slice(0, MAX_TEXT)
    .replace(CREDENTIAL, (_, scheme?: string) => (scheme === undefined ? '[hidden]' : `${scheme} [hidden]`))
  const safe = showRecipients ? whole : whole.replace(EMAIL, '$1***@$2').replace(PHONE, maskEnds)
  return text.length > MAX_TEXT ? `${safe.slice(0, -MARGIN)}…` : safe
}

function maskEnds(text: string): string {
  return `${text.slice(0, 3)}…${text.slice(-2)}`
}

/** Masks an e-mail address or phone number by its form, and other text (a device token, an id) except its start. */
function maskRecipient(to: string, options: RedactOptions): string {
  const masked = redactText(to, options)
  if (masked !== to || options.showRecipients) return masked
  return to.length <= 4 ? '***' : `${to.slice(0, 4)}…`
}

/** Masks one recipient or a list. */
function maskRecipients(to: unknown, options: RedactOptions): unknown {
  const mask = (one: unknown): unknown => (typeof one === 'string' ? maskRecipient(one, options) : one)
  return Array.isArray(to) ? to.slice(0, MAX_ENTRIES).map(mask) : mask(to)
}

function redactValue(value: unknown, depth: number, walk: Walk): unknown {
  if (walk.left <= 0) return '[too much]'
  walk.left -= 1
  if (typeof value === 'string') return redactText(value, walk)
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'function' || typeof value === 'symbol') return `[${typeof value}]`
  if (typeof value !== 'object' || value === null) return value
  if (walk.above.has(value)) return '[circular]'
  if (depth >= MAX_DEPTH) return '[too deep]'
  walk.above.add(value)
  try {
    return redactObject(value, depth, walk)
  } catch {
    return '[unreadable]'
  } finally {
    walk.above.delete(value)
  }
}

function redactObject(value: object, depth: number, walk: Walk): unknown {
  if (value instanceof Error) return redactError(value, depth, walk)
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? '[invalid date]' : value.toISOString()
  if (value instanceof URL) return redactText(`${value.origin}${value.pathname}`, walk)
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`
  if (Array.isArray(value)) {
    return value.slice(0, MAX_ENTRIES).map((entry) => redactValue(entry, depth + 1, walk))
  }
  return redactEntries(value, Object.keys(value), depth, walk)
}

/** The important properties of errors are not enumerable; as plain data every logger shows them. */
function redactError(error: Error, depth: number, walk: Walk): unknown {
  const own = Object.keys(error).filter((key) => !['name', 'message', 'stack', 'cause'].includes(key))
  // First, because the others may use up the limit of the line.
  const cause = error.cause === undefined ? {} : { cause: redactValue(error.cause, depth + 1, walk) }
  return {
    name: String(error.name),
    message: redactText(String(error.message), walk),
    ...redactEntries(error, own, depth, walk),
    ...(typeof error.stack === 'string' ? { stack: redactText(error.stack, walk) } : {}),
    ...cause,
  }
}

function redactEntries(
  value: object,
  keys: readonly string[],
  depth: number,
  walk: Walk,
): Record<string, unknown> {
  const entries = keys.slice(0, MAX_ENTRIES).map((key): [string, unknown] => {
    const plain = key.toLowerCase().replace(/[-_]/g, '')
    if (isHidden(plain)) return [key, '[hidden]']
    let entry: unknown
    try {
      entry = (value as Readonly<Record<string, unknown>>)[key]
      if (RECIPIENT_KEYS.has(plain)) entry = maskRecipients(entry, walk)
    } catch {
      return [key, '[unreadable]']
    }
    return [key, redactValue(entry, depth + 1, walk)]
  })
  return Object.fromEntries(entries)
}

function isHidden(key: string): boolean {
  return HIDDEN.has(key) || HIDDEN_ENDINGS.some((ending) => key.endsWith(ending))
}
