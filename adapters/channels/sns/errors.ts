import type { Outcome } from '../../../src/core/notification/outcome.ts'
import {
  byStatus,
  type Classification,
  type ProviderAnswer,
  refuse,
  rowOf,
  textMember,
} from '../kit/http/provider-answer.ts'

const auth: Classification = ['rejected', 'provider_auth_failed', 'account']
const throttled: Classification = ['retry', 'provider_rate_limited', 'account']
/** AWS does not guarantee that nothing was sent, and has no idempotency. */
const faulty: Classification = ['ambiguous', 'provider_unavailable', 'provider']

/**
 * Error codes of `Publish`, and those common to all of AWS.
 *
 * @internal exported for tests
 */
export const SNS_ERRORS: Readonly<Record<string, Classification>> = {
  AuthorizationError: auth,
  AccessDenied: auth,
  AccessDeniedException: auth,
  InvalidClientTokenId: auth,
  UnrecognizedClient: auth,
  UnrecognizedClientException: auth,
  SignatureDoesNotMatch: auth,
  IncompleteSignature: auth,
  InvalidSecurity: auth,
  MissingAuthenticationToken: auth,
  ExpiredToken: auth,
  ExpiredTokenException: auth,
  OptInRequired: auth,
  RequestExpired: auth,
  NotAuthorized: auth,
  KMSAccessDenied: auth,
  OptedOut: ['rejected', 'unsubscribed', 'recipient'],
  Throttled: throttled,
  Throttling: throttled,
  ThrottlingException: throttled,
  KMSThrottling: throttled,
  RequestThrottled: throttled,
  InternalError: faulty,
  InternalFailure: faulty,
  ServiceUnavailable: ['retry', 'provider_unavailable', 'provider'],
  EndpointDisabled: ['rejected', 'provider_error', 'account'],
  NotFound: ['rejected', 'provider_error', 'account'],
  InvalidParameter: ['rejected', 'provider_error', 'message'],
  InvalidParameterValue: ['rejected', 'provider_error', 'message'],
  ParameterValueInvalid: ['rejected', 'provider_error', 'message'],
  Validation: ['rejected', 'provider_error', 'message'],
  ValidationException: ['rejected', 'provider_error', 'message'],
  ValidationError: ['rejected', 'provider_error', 'message'],
}

/** The AWS client's result of a call. */
export interface SnsEnd {
  readonly value: unknown
  readonly error: unknown
}

/** The outcome of an answer, by the client's result. */
export function snsOutcome(answer: ProviderAnswer, { value, error }: SnsEnd): Outcome | null {
  const id = textMember(value, 'MessageId')
  if (id !== undefined && answer.status === 200) return { kind: 'accepted', providerMessageId: id }
  // An answer that the client cannot parse is not an error of the service.
  const code = textMember(error, 'Code')
  if (answer.status < 400 || code === undefined || !(error instanceof Error)) return null
  return refuse(
    answer,
    { code, message: error.message },
    classify(code, error.message) ?? byStatus(answer.status),
  )
}

function classify(code: string, message: string): Classification | undefined {
  const classification = rowOf(SNS_ERRORS, code)
  if (classification?.[1] !== 'provider_error' || classification[2] !== 'message') return classification
  if (/opted out/i.test(message)) return ['rejected', 'unsubscribed', 'recipient']
  if (/sandbox|not verified|unverified/i.test(message)) return ['rejected', 'blocked_recipient', 'recipient']
  if (/too long|message length/i.test(message)) return ['rejected', 'message_too_large', 'message']
  if (/sender ?id|originationnumber/i.test(message)) return ['rejected', 'invalid_sender', 'account']
  if (/phone ?number/i.test(message)) return ['rejected', 'invalid_phone_number', 'recipient']
  return classification
}
