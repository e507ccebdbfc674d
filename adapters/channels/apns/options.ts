import { createPrivateKey, type KeyObject } from 'node:crypto'
import * as z from 'zod'
import type { RetryPolicy } from '../../../src/core/delivery/retry-delay.ts'
import { maxPerSecond } from '../kit/http/provider-options.ts'
import { checkOptions, instanceName, retryPolicy, timeout, wrongOption } from '../kit/options.ts'

/** Options of `apns`. */
export interface ApnsOptions {
  /** Apple's signing key: the text of the `.p8` file. */
  readonly key: string
  /** Ten-character id of the key. */
  readonly keyId: string
  /** Ten-character id of the team. */
  readonly teamId: string
  /** Bundle id of the app. */
  readonly topic: string
  /**
   * `production` for apps from the store, `sandbox` for apps installed by Xcode.
   *
   * @default 'production'
   */
  readonly environment?: 'production' | 'sandbox' | undefined
  /**
   * Instance id, unique among the providers of its channel.
   *
   * @default 'apns'
   */
  readonly name?: string | undefined
  /**
   * How long APNs keeps a message for an offline device, in seconds. 0: try once. `push.ttlSeconds` replaces it.
   *
   * @default 2_419_200 (four weeks)
   */
  readonly ttlSeconds?: number | undefined
  /**
   * 10: deliver at once. 5: respect the device's battery. 1: never wake the device.
   *
   * @default 10
   */
  readonly priority?: 10 | 5 | 1 | undefined
  /**
   * Additional keys of `aps`, for example `{ sound: 'default', 'mutable-content': 1 }`. Those of the message win.
   *
   * @default none
   */
  readonly aps?: Readonly<Record<string, unknown>> | undefined
  /**
   * Longest time for one message, including DNS lookup and connection, in milliseconds.
   *
   * @default 15_000
   */
  readonly timeoutMs?: number | undefined
  /**
   * Most concurrent messages, all over one connection.
   *
   * @default 100
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
   * Interval of keep-alive PINGs, in milliseconds.
   *
   * @default 60_000
   */
  readonly keepAliveMs?: number | undefined
  /** Address instead of the environment's, for a proxy or a test server. */
  readonly baseUrl?: string | undefined
  /** Certificates (PEM) to trust instead of the runtime's list. */
  readonly ca?: string | readonly string[] | undefined
  /** Schedule of retries. Default: the engine's policy for providers. */
  readonly retry?: RetryPolicy | undefined
}

/** Options with defaults. */
export interface ResolvedApnsOptions {
  readonly key: KeyObject
  readonly keyId: string
  readonly teamId: string
  readonly topic: string
  readonly name: string
  readonly ttlSeconds: number
  readonly priority: 10 | 5 | 1
  readonly aps: Readonly<Record<string, unknown>>
  readonly timeoutMs: number
  readonly maxConcurrent: number
  readonly maxPerSecond: number | undefined
  readonly keepAliveMs: number
  readonly origin: string
  readonly ca: string | readonly string[] | undefined
  readonly retry: RetryPolicy | undefined
}

const PLUGIN = 'apns'
const ORIGINS = {
  production: 'https://api.push.apple.com',
  sandbox: 'https://api.sandbox.push.apple.com',
} as const

const tenCharacters = z.string().regex(/^[A-Z0-9]{10}$/, 'must be ten capital letters and digits')
const schema = z.strictObject({
  key: z.string(),
  keyId: tenCharacters,
  teamId: tenCharacters,
  topic: z.string().regex(/^[A-Za-z0-9.-]{1,255}$/, 'must be the bundle id of the app'),
  environment: z.enum(['production', 'sandbox']).default('production'),
  name: instanceName.default('apns'),
  ttlSeconds: z
    .int()
    .min(0)
    .max(2_592_000, 'must be at most 2592000 seconds, thirty days')
    .default(2_419_200),
  priority: z.literal([10, 5, 1]).default(10),
  aps: z
    .record(z.string(), z.unknown())
    .refine((aps) => !Object.hasOwn(aps, 'alert'), 'must not contain "alert", which the message sets')
    .default({}),
  timeoutMs: timeout.default(15_000),
  maxConcurrent: z.int().min(1).max(1_000).default(100),
  maxPerSecond,
  keepAliveMs: z.int().min(1).max(3_600_000).default(60_000),
  baseUrl: z.url({ protocol: /^https$/, error: 'must be an https URL' }).optional(),
  ca: z.union([z.string(), z.array(z.string())]).optional(),
  retry: retryPolicy.optional(),
})

/** @throws NotifierError `invalid_configuration` with the option's name */
export function resolveApnsOptions(options: ApnsOptions): ResolvedApnsOptions {
  const { environment, baseUrl, key, ...given } = checkOptions(PLUGIN, schema, options)
  return {
    ...given,
    key: signingKey(key),
    origin: baseUrl === undefined ? ORIGINS[environment] : new URL(baseUrl).origin,
    maxPerSecond: given.maxPerSecond,
    ca: given.ca,
    retry: given.retry,
  }
}

function signingKey(pem: string): KeyObject {
  const wrong = () => wrongOption(PLUGIN, 'key', 'must be the text of the .p8 file, an EC key on P-256')
  let key: KeyObject
  try {
    key = createPrivateKey(pem)
  } catch {
    throw wrong()
  }
  if (key.asymmetricKeyDetails?.namedCurve !== 'prime256v1') throw wrong()
  return key
}
