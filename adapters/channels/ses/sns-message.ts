import { verify, X509Certificate } from 'node:crypto'
import { member, rowOf } from '../kit/http/provider-answer.ts'

/** An SNS message over HTTP, with the fields that its signature covers. */
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
 * Only complete region names: `sns.s3-us-west-2.amazonaws.com` would be a foreign bucket, and a configured topic may be
 * misspelt.
 */
const REGION = /^(?:[a-z]{2}|eusc)(?:-[a-z]+){1,3}-\d{1,2}$/
/** Domains of partitions outside `amazonaws.com`. */
const DOMAINS: Readonly<Record<string, string>> = { 'aws-cn': 'amazonaws.com.cn', 'aws-eusc': 'amazonaws.eu' }

/** The signed keys in order. `Subject` only if present. */
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

/** Parses a message. Null: a field is missing or has the wrong type. */
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

/**
 * The canonical form of an address of SNS itself, in the topic's region, over https on the default port. Null: the
 * address leads elsewhere. Only the canonical form is fetched, because another parser may read the text otherwise.
 */
export function snsUrl(text: string, topicArn: string): string | null {
  const [, partition, , region = ''] = topicArn.split(':')
  const host = `sns.${region}.${rowOf(DOMAINS, partition) ?? 'amazonaws.com'}`
  const url = REGION.test(region) ? URL.parse(text) : null
  return url?.href.startsWith(`https://${host}/`) === true ? url.href : null
}

/** The canonical form of an address from which a certificate may be fetched. Null: none may. */
export function certificateUrl(text: string, topicArn: string): string | null {
  const href = snsUrl(text, topicArn)
  return href?.endsWith('.pem') === true && !/[?#]/.test(href) ? href : null
}

/** Verifies the signature. False also for an unreadable certificate. */
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
