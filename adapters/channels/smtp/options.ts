import type { ConnectionOptions } from 'node:tls'
import * as z from 'zod'
import type { RetryPolicy } from '../../../src/core/delivery/retry-delay.ts'
import { PROXY_RULE, proxyUrl } from '../../../src/outgoing/proxy.ts'
import { line, type MailFrame, mailFrame, mailShape } from '../kit/mail/mail-frame.ts'
import { checkOptions, instanceName, isThisMachine, retryPolicy } from '../kit/options.ts'

/** Options of `smtp`. */
export interface SmtpOptions {
  /** Host name or IP address of the mail server. */
  readonly host: string
  /** @default 465 with `secure`, else 587 */
  readonly port?: number | undefined
  /**
   * TLS from the first byte. Otherwise STARTTLS, if the server offers it.
   *
   * @default true on port 465
   */
  readonly secure?: boolean | undefined
  /**
   * Refuse a connection that cannot be upgraded to TLS.
   *
   * @default true with `auth`, except to this machine
   */
  readonly requireTls?: boolean | undefined
  /** User name and password, if the server requires them. */
  readonly auth?: { readonly user: string; readonly pass: string } | undefined
  /** The sender: `no-reply@example.com` or `Example <no-reply@example.com>`. */
  readonly from: string
  /**
   * Other senders that a message may name (`email.from`) and the server accepts: addresses, and domains.
   *
   * @default none: only the address of `from`, with any name
   */
  readonly senders?: readonly string[] | undefined
  /** Default address for replies, in the same format. A message can override it. */
  readonly replyTo?: string | undefined
  /** Additional headers for every mail, one line each. Headers of the mail format itself are refused. */
  readonly headers?: Readonly<Record<string, string>> | undefined
  /**
   * Instance id, unique among the providers of its channel.
   *
   * @default 'smtp'
   */
  readonly name?: string | undefined
  /**
   * Most connections, and most mails in transfer; as many wait with a recorded attempt.
   *
   * @default 5
   */
  readonly maxConnections?: number | undefined
  /**
   * Mails after which a connection is replaced.
   *
   * @default 100
   */
  readonly maxMessages?: number | undefined
  /**
   * Longest time for one message, including DNS lookup and connection, in milliseconds.
   *
   * @default 60_000
   */
  readonly timeoutMs?: number | undefined
  /** Time limit of each phase. */
  readonly timeouts?: SmtpTimeouts | undefined
  /**
   * URL of an HTTP proxy that connects to the mail server, and permits `port`:
   * `http://user:password@proxy.example.com:3128`.
   *
   * @default none
   */
  readonly proxy?: string | undefined
  /** TLS options of Node.js, for example `{ ca }` for a private authority. */
  readonly tls?: ConnectionOptions | undefined
  /** Name for EHLO. Default: the machine's host name. */
  readonly clientName?: string | undefined
  /**
   * Converts HTML to the text alternative.
   *
   * @default a small converter for mails
   */
  readonly toText?: ((html: string) => string) | undefined
  /**
   * What to do if the connection breaks after the content began to flow. A repeated mail has the same Message-ID, by
   * which many mailbox providers collapse duplicates.
   *
   * @default 'retry'
   */
  readonly onAmbiguous?: 'retry' | 'fail' | undefined
  /** Schedule of retries. Default: the engine's policy for providers. */
  readonly retry?: RetryPolicy | undefined
}

/** Time limits in milliseconds. */
export interface SmtpTimeouts {
  /** @default 5_000 */
  readonly dnsMs?: number | undefined
  /** @default 10_000 */
  readonly connectMs?: number | undefined
  /** @default 10_000 */
  readonly greetingMs?: number | undefined
  /** Longest silence of the server during a conversation. @default 30_000 */
  readonly socketMs?: number | undefined
}

/** Options with defaults. */
export interface ResolvedSmtpOptions extends MailFrame {
  readonly host: string
  readonly port: number
  readonly secure: boolean
  readonly requireTls: boolean
  readonly auth: { readonly user: string; readonly pass: string } | null
  readonly name: string
  readonly maxConnections: number
  readonly maxMessages: number
  readonly timeoutMs: number
  readonly timeouts: { readonly [Phase in keyof SmtpTimeouts]-?: number }
  readonly proxy: URL | null
  readonly tls: ConnectionOptions | null
  readonly clientName: string | null
  readonly onAmbiguous: 'retry' | 'fail'
  readonly retry: RetryPolicy | undefined
}

const PLUGIN = 'smtp'
const count = z.int().min(1, 'must be a whole number of at least 1')
const milliseconds = count.max(600_000, 'must be at most 600000 milliseconds')
const host = line.refine(
  (text) => /^[^\s/@]+$/.test(text) && !/^(?:[^:]+|\[.*\]):\d*$/.test(text),
  'must be a host name or IP address alone: port and user have their own options',
)
const word = line.refine((text) => /^\S+$/.test(text), 'must be text without spaces')

const schema = z.strictObject({
  host,
  port: z.int().min(1).max(65_535, 'must be a port from 1 to 65535').optional(),
  secure: z.boolean().optional(),
  requireTls: z.boolean().optional(),
  auth: z.strictObject({ user: z.string().min(1), pass: z.string() }).optional(),
  ...mailShape,
  name: instanceName.default('smtp'),
  maxConnections: count.max(1000).default(5),
  maxMessages: count.default(100),
  timeoutMs: milliseconds.default(60_000),
  timeouts: z
    .strictObject({
      dnsMs: milliseconds.default(5_000),
      connectMs: milliseconds.default(10_000),
      greetingMs: milliseconds.default(10_000),
      socketMs: milliseconds.default(30_000),
    })
    .prefault({}),
  proxy: z
    .string()
    .refine((text) => proxyUrl(text) !== null, PROXY_RULE)
    .optional(),
  tls: z
    .custom<ConnectionOptions>((value) => typeof value === 'object' && value !== null, 'must be an object')
    .optional(),
  clientName: word.optional(),
  onAmbiguous: z.enum(['retry', 'fail']).default('retry'),
  retry: retryPolicy.optional(),
})

/** @throws NotifierError `invalid_configuration` with the option's name */
export function resolveSmtpOptions(options: SmtpOptions): ResolvedSmtpOptions {
  const given = checkOptions(PLUGIN, schema, options)
  const secure = given.secure ?? given.port === 465
  return {
    ...given,
    // Brackets as in a URL, which socket functions do not accept.
    host: given.host.replace(/^\[(.+)\]$/, '$1'),
    port: given.port ?? (secure ? 465 : 587),
    secure,
    // An attacker who strips STARTTLS must not receive the password in clear text.
    requireTls: given.requireTls ?? (given.auth !== undefined && !isThisMachine(given.host)),
    auth: given.auth ?? null,
    ...mailFrame(PLUGIN, given),
    proxy: given.proxy === undefined ? null : proxyUrl(given.proxy),
    tls: given.tls ?? null,
    clientName: given.clientName ?? null,
    retry: given.retry,
  }
}
