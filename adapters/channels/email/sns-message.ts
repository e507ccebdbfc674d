import { verify, X509Certificate } from 'node:crypto'
import { member } from '../http/provider-answer.ts'

/** A message of Amazon SNS over HTTP, with the fields that its signature covers. */
export interface SnsMessage {
  readonly Type: 'Notification' | 'SubscriptionConfirmation' | 'UnsubscribeConfirmation'
  readonly MessageId: string
  readonly TopicArn: string
  readonly Message: string
  readonly Timestamp: string
  readonly Signature: string
  readonly SignatureVersion: '1' | '2'
  readonly SigningCertURL: string
  readonly Subject?: string
  readonly SubscribeURL?: string
  readonly Token?: string
}

/**
 * Hosts of SNS itself: where certificates and confirmations may come from. Only regions: `sns.s3-us-west-2.amazonaws.com`
 * is somebody's bucket.
 */
const HOST = /^sns\.[a-z]{2}(?:-[a-z]+){1,3}-\d{1,2}\.amazonaws\.com(?:\.cn)?$/

/** The keys that are signed, in order; `Subject` only where there is one. */
const SIGNED = {
  Notification: ['Message', 'MessageId', 'Subject', 'Timestamp', 'TopicArn', 'Type'],
  SubscriptionConfirmation: [
    'Message',
    'MessageId',
    'SubscribeURL',
    'Timestamp',
    'Token',
    'TopicArn',
    'Type',
  ],
  UnsubscribeConfirmation: ['Message', 'MessageId', 'SubscribeURL', 'Timestamp', 'Token', 'TopicArn', 'Type'],
} as const

/** Reads a message; null when a field is missing or of a wrong type. */
export function readSnsMessage(json: unknown): SnsMessage | null {
  const type = member(json, 'Type')
  if (type !== 'Notification' && type !== 'SubscriptionConfirmation' && type !== 'UnsubscribeConfirmation') {
    return null
  }
  const version = member(json, 'SignatureVersion')
  if (version !== '1' && version !== '2') return null
  const needed = SIGNED[type].filter((name) => name !== 'Subject')
  if (![...needed, 'Signature', 'SigningCertURL'].every((name) => typeof member(json, name) === 'string')) {
    return null
  }
  const subject = member(json, 'Subject')
  if (subject !== undefined && subject !== null && typeof subject !== 'string') return null
  return json as SnsMessage
}

/** Tells whether an address is one of SNS itself, over https and its own port. */
export function isSnsUrl(text: string): boolean {
  if (!URL.canParse(text)) return false
  const { protocol, hostname, port, username, password } = new URL(text)
  return protocol === 'https:' && port === '' && username === '' && password === '' && HOST.test(hostname)
}

/** Tells whether a certificate may be fetched from an address. */
export function isCertificateUrl(text: string): boolean {
  return isSnsUrl(text) && new URL(text).pathname.endsWith('.pem')
}

/** Verifies the signature; false also where the certificate cannot be read. */
export function isSigned(message: SnsMessage, certificate: string): boolean {
  const signed = SIGNED[message.Type]
    .flatMap((name) => {
      const value = member(message, name)
      return typeof value === 'string' ? [`${name}\n${value}\n`] : []
    })
    .join('')
  const algorithm = message.SignatureVersion === '1' ? 'RSA-SHA1' : 'RSA-SHA256'
  try {
    const { publicKey } = new X509Certificate(certificate)
    return verify(algorithm, Buffer.from(signed, 'utf8'), publicKey, Buffer.from(message.Signature, 'base64'))
  } catch {
    return false
  }
}
