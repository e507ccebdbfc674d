import { createPrivateKey, type KeyObject } from 'node:crypto'
import * as z from 'zod'
import type { RetryPolicy } from '../../../src/core/delivery/retry-delay.ts'
import { type ProviderOptions, providerShape } from '../kit/http/provider-options.ts'
import { checkOptions, wrongOption } from '../kit/options.ts'
import type { ServiceAccount } from './token.ts'

/** Options of `fcm`. */
export interface FcmOptions extends ProviderOptions {
  /** Parsed key file of a service account: `JSON.parse(readFileSync(file, 'utf8'))`. */
  readonly serviceAccount: FcmServiceAccount
  /**
   * Id of the Firebase project.
   *
   * @default the service account's project
   */
  readonly projectId?: string | undefined
  /**
   * How long FCM keeps a message for an offline device, in seconds. 0: try once.
   * `push.ttlSeconds` replaces it.
   *
   * @default 2_419_200 (four weeks, the maximum)
   */
  readonly ttlSeconds?: number | undefined
  /**
   * `high`: wake an Android device at once. `normal`: wait until it wakes.
   *
   * @default 'high'
   */
  readonly priority?: 'high' | 'normal' | undefined
}

/** The fields in use of a service account's key file. Other fields are ignored. */
export interface FcmServiceAccount {
  readonly client_email: string
  readonly private_key: string
  readonly private_key_id?: string | undefined
  readonly project_id?: string | undefined
  readonly token_uri?: string | undefined
}

/** Options with defaults. */
export interface ResolvedFcmOptions {
  readonly account: ServiceAccount
  readonly projectId: string
  readonly ttlSeconds: number
  readonly priority: 'high' | 'normal'
  readonly name: string
  readonly baseUrl: string
  readonly timeoutMs: number
  readonly maxConcurrent: number
  readonly maxPerSecond: number | undefined
  readonly onAmbiguous: 'retry' | 'fail'
  readonly retry: RetryPolicy | undefined
}

const PLUGIN = 'fcm'
const project = z.string().regex(/^[a-z0-9:.-]{1,100}$/, 'must be the id of a Firebase project')
const schema = z.strictObject({
  ...providerShape({ name: 'fcm', baseUrl: 'https://fcm.googleapis.com' }),
  serviceAccount: z.object({
    client_email: z.string().min(3, 'must be the client_email of the key file'),
    private_key: z.string(),
    private_key_id: z.string().optional(),
    project_id: project.optional(),
    token_uri: providerShape({ name: 'fcm', baseUrl: 'https://oauth2.googleapis.com/token' }).baseUrl,
  }),
  projectId: project.optional(),
  ttlSeconds: z.int().min(0).max(2_419_200, 'must be at most 2419200 seconds, four weeks').default(2_419_200),
  priority: z.enum(['high', 'normal']).default('high'),
})

/** @throws NotifierError `invalid_configuration` with the option's name */
export function resolveFcmOptions(options: FcmOptions): ResolvedFcmOptions {
  const { serviceAccount, ...given } = checkOptions(PLUGIN, schema, options)
  const projectId = given.projectId ?? serviceAccount.project_id
  if (projectId === undefined) {
    throw wrongOption(PLUGIN, 'projectId', 'is required, because the service account has no project id')
  }
  const { client_email, private_key, private_key_id, token_uri } = serviceAccount
  return {
    ...given,
    projectId,
    maxPerSecond: given.maxPerSecond,
    retry: given.retry,
    account: {
      clientEmail: client_email,
      privateKey: rsaKey(private_key),
      privateKeyId: private_key_id,
      tokenUri: token_uri,
    },
  }
}

function rsaKey(pem: string): KeyObject {
  const wrong = () =>
    wrongOption(
      PLUGIN,
      'serviceAccount.private_key',
      'must be the private_key of the key file, an RSA key in PEM',
    )
  let key: KeyObject
  try {
    key = createPrivateKey(pem)
  } catch {
    throw wrong()
  }
  if (key.asymmetricKeyType !== 'rsa') throw wrong()
  return key
}
