import { createECDH } from 'node:crypto'
import * as z from 'zod'
import type { RetryPolicy } from '../../../src/core/delivery/retry-delay.ts'
import { maxPerSecond } from '../kit/http/provider-options.ts'
import { checkOptions, instanceName, retryPolicy, timeout, wrongOption } from '../kit/options.ts'
import { PUSH_SERVICE, PUSH_SERVICES, withPaths } from './services.ts'

/** Options of `webPush`. */
export interface WebPushOptions {
  /** The VAPID key pair of the subscriptions (RFC 8292), by `npx web-push generate-vapid-keys`. */
  readonly vapid: VapidKeys
  /**
   * Instance id, unique among the providers of its channel.
   *
   * @default 'web-push'
   */
  readonly name?: string | undefined
  /**
   * How long the push service keeps a message for an offline browser, in seconds. 0: try once.
   * `push.ttlSeconds` replaces it.
   *
   * @default 2_419_200 (four weeks)
   */
  readonly ttlSeconds?: number | undefined
  /**
   * Urgency of the messages (RFC 8030), by which a device on battery decides whether to wake.
   *
   * @default 'normal'
   */
  readonly urgency?: 'very-low' | 'low' | 'normal' | 'high' | undefined
  /**
   * Hosts of push services, with all hosts below them, whose faults count for the whole provider. Other endpoints
   * speak only for their own subscription. `host/path` matches the beginning of a path; `*.host` excludes the host
   * itself.
   *
   * @default those of Chrome, Firefox, Safari and Edge
   */
  readonly pushServices?: readonly string[] | undefined
  /**
   * Longest time for one message, including DNS lookup and connection, in milliseconds.
   *
   * @default 15_000
   */
  readonly timeoutMs?: number | undefined
  /**
   * Most concurrent messages and connections.
   *
   * @default 50
   */
  readonly maxConcurrent?: number | undefined
  /**
   * Most messages per second, shared by all processes with the same rate limiter. Also a fraction (0.5: one in two
   * seconds).
   *
   * @default no limit
   */
  readonly maxPerSecond?: number | undefined
  /**
   * CIDR blocks that are allowed although they are not public, for a local push service during development.
   *
   * @default none
   */
  readonly allow?: readonly string[] | undefined
  /**
   * Accept `http:` endpoints. For development.
   *
   * @default false
   */
  readonly allowHttp?: boolean | undefined
  /** Certificates (PEM) to trust instead of the runtime's list. */
  readonly ca?: string | readonly string[] | undefined
  /** Schedule of retries. Default: the engine's policy for providers. */
  readonly retry?: RetryPolicy | undefined
}

/** Identity of an application at push services. */
export interface VapidKeys {
  /** Contact for push services: `mailto:…` or `https://…`. */
  readonly subject: string
  /** Public key, base64url. */
  readonly publicKey: string
  /** Private key, base64url. */
  readonly privateKey: string
}

/** Options with defaults. */
export interface ResolvedWebPushOptions {
  readonly vapid: VapidKeys
  readonly name: string
  readonly ttlSeconds: number
  readonly urgency: 'very-low' | 'low' | 'normal' | 'high'
  readonly pushServices: readonly string[]
  readonly timeoutMs: number
  readonly maxConcurrent: number
  readonly maxPerSecond: number | undefined
  readonly allow: readonly string[]
  readonly allowHttp: boolean
  readonly ca: string | readonly string[] | undefined
  readonly retry: RetryPolicy | undefined
}

const PLUGIN = 'webPush'

const base64url = z.string().regex(/^[\w-]+$/, 'must be base64url without padding')
const schema = z.strictObject({
  vapid: z.strictObject({
    subject: z
      .string()
      .refine(
        (subject) => URL.canParse(subject) && /^(?:https|mailto):$/.test(new URL(subject).protocol),
        'must be mailto: or https:',
      ),
    publicKey: base64url,
    privateKey: base64url,
  }),
  name: instanceName.default('web-push'),
  ttlSeconds: z.int().min(0).max(2_419_200, 'must be at most 2419200 seconds, four weeks').default(2_419_200),
  urgency: z.enum(['very-low', 'low', 'normal', 'high']).default('normal'),
  pushServices: z
    .array(z.string().regex(PUSH_SERVICE, 'must be host names, or host names with a path'))
    .default([...PUSH_SERVICES]),
  timeoutMs: timeout.default(15_000),
  maxConcurrent: z.int().min(1).max(10_000).default(50),
  maxPerSecond,
  allow: z.array(z.string()).default([]),
  allowHttp: z.boolean().default(false),
  ca: z.union([z.string(), z.array(z.string())]).optional(),
  retry: retryPolicy.optional(),
})

/** @throws NotifierError `invalid_configuration` with the option's name */
export function resolveWebPushOptions(options: WebPushOptions): ResolvedWebPushOptions {
  const given = checkOptions(PLUGIN, schema, options)
  const { publicKey, privateKey } = given.vapid
  if (!isPair(publicKey, privateKey)) {
    throw wrongOption(PLUGIN, 'vapid', 'must contain both keys of one P-256 pair')
  }
  const { maxPerSecond, ca, retry } = given
  return { ...given, pushServices: withPaths(given.pushServices), maxPerSecond, ca, retry }
}

/** Every push service refuses a mismatched pair, message by message. */
function isPair(publicKey: string, privateKey: string): boolean {
  const curve = createECDH('prime256v1')
  try {
    curve.setPrivateKey(privateKey, 'base64url')
  } catch {
    return false
  }
  return curve.getPublicKey('base64url') === publicKey
}
