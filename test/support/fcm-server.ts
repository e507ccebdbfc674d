import { generateKeyPairSync, type KeyObject } from 'node:crypto'
import { jwtVerify } from 'jose'
import * as z from 'zod'
import type { FcmServiceAccount } from '../../adapters/channels/fcm/send.ts'
import type { ProviderReply } from '../../src/testing/channel/provider-server.ts'
import type { ReceivedRequest } from '../../src/testing/channel/receiver.ts'

/* What Google's side of FCM checks, by the discovery document of fcm v1 and "OAuth 2.0 for server to server". */

export const FCM_TOKEN = `dQw4w9WgXcQ_abcdefghij:APA91b${'xY-_9'.repeat(26)}`
export const FCM_PATH = '/v1/projects/demo-project/messages:send'

const strings = z.record(z.string(), z.string())
const seconds = z.string().regex(/^\d+s$/)

/** Of `SendMessageRequest`, the fields that a message of Carillon may use; any other is refused, as Google does. */
const sendMessageRequest = z.strictObject({
  validateOnly: z.boolean().optional(),
  message: z.strictObject({
    token: z.string(),
    notification: z
      .strictObject({ title: z.string().optional(), body: z.string(), image: z.url().optional() })
      .optional(),
    data: strings.optional(),
    android: z
      .strictObject({
        priority: z.enum(['NORMAL', 'HIGH']).optional(),
        ttl: seconds.optional(),
        collapse_key: z.string().optional(),
        notification: z
          .strictObject({
            tag: z.string(),
            sound: z.string().optional(),
            click_action: z.string().optional(),
            notification_count: z.int().optional(),
          })
          .optional(),
      })
      .optional(),
    apns: z
      .strictObject({
        headers: strings,
        payload: z.record(z.string(), z.unknown()).optional(),
        fcm_options: z.strictObject({ image: z.url() }).optional(),
      })
      .optional(),
    webpush: z
      .strictObject({
        headers: strings.optional(),
        notification: z.record(z.string(), z.unknown()).optional(),
        fcm_options: z.strictObject({ link: z.url({ protocol: /^https$/ }) }).optional(),
      })
      .optional(),
  }),
})

export type FcmMessage = z.output<typeof sendMessageRequest>['message']

export function fcmMessage(request: ReceivedRequest): FcmMessage {
  return sendMessageRequest.parse(JSON.parse(request.body.toString('utf8'))).message
}

export interface TestAccount {
  readonly file: FcmServiceAccount
  readonly publicKey: KeyObject
}

/** Of all accounts: making one takes longer than most tests. */
const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 })
const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

/** A service account as its key file shows it. */
export function testAccount(url: string): TestAccount {
  return {
    publicKey,
    file: {
      client_email: 'sender@demo-project.iam.gserviceaccount.com',
      private_key: pem,
      private_key_id: '0123456789abcdef',
      project_id: 'demo-project',
      token_uri: `${url}/token`,
    },
  }
}

/** The answer of the token endpoint, which looks at the assertion as Google does. */
export async function grant(
  request: ReceivedRequest,
  { file, publicKey }: TestAccount,
): Promise<{ readonly grantType: string | null; readonly payload: unknown; readonly header: unknown }> {
  const form = new URLSearchParams(request.body.toString('utf8'))
  const { payload, protectedHeader } = await jwtVerify(form.get('assertion') ?? '', publicKey, {
    algorithms: ['RS256'],
    issuer: file.client_email,
    audience: file.token_uri ?? '',
    maxTokenAge: '1h',
    requiredClaims: ['iat', 'exp', 'scope'],
  })
  return { grantType: form.get('grant_type'), payload, header: protectedHeader }
}

export const tokenReply = (token: string, expiresIn = 3_599): ProviderReply => ({
  status: 200,
  body: { access_token: token, expires_in: expiresIn, token_type: 'Bearer' },
})

/** An error in Google's form. */
export function fcmError(
  code: number,
  status: string,
  message: string,
  ...details: readonly object[]
): ProviderReply {
  return { status: code, body: { error: { code, status, message, details } } }
}

export const fcmCode = (errorCode: string): object => ({
  '@type': 'type.googleapis.com/google.firebase.fcm.v1.FcmError',
  errorCode,
})
