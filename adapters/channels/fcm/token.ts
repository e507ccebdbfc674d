import { type KeyObject, sign } from 'node:crypto'
import { type HttpResult, parseRetryAfter } from '../../../src/core/channels/http-answer.ts'
import type { Outcome } from '../../../src/core/notification/outcome.ts'
import { jsonOf, member, textMember } from '../kit/http/provider-answer.ts'
import type { ProviderHttp } from '../kit/http/provider-http.ts'
import { redactor } from '../kit/redact.ts'

/** An account for Google's APIs. */
export interface ServiceAccount {
  readonly clientEmail: string
  readonly privateKey: KeyObject
  /** Id of the key, if the file has one. */
  readonly privateKeyId: string | undefined
  /** Endpoint that issues tokens. */
  readonly tokenUri: string
}

/** A token, or the outcome for messages without one. */
export type AccessToken =
  | { readonly kind: 'token'; readonly token: string }
  | Exclude<Outcome, { kind: 'accepted' }>

/** The access token of a service account: created on first use and cached until shortly before its expiry. */
export interface GoogleToken {
  /** Never rejects. Concurrent callers share one request; the signal ends only the caller's wait. */
  get(signal: AbortSignal): Promise<AccessToken>
  /**
   * Records that Google refused a token, so that the next message uses a new one.
   *
   * @returns false if a new token is unlikely to help: the previous one was refused recently
   */
  refused(token: string): boolean
}

const GRANT = 'urn:ietf:params:oauth:grant-type:jwt-bearer'
/** Longest lifetime of an assertion (Google, "Using OAuth 2.0 for server to server applications"). */
const ASSERTION_SECONDS = 3_600
/** Minimum remaining lifetime of a token: it must not expire in transit. */
const MARGIN_MS = 300_000
/** Two refused tokens within this time are no coincidence. */
const REFUSED_AGAIN_MS = 600_000

export function googleToken(http: ProviderHttp, account: ServiceAccount, scope: string): GoogleToken {
  let kept: { readonly token: string; readonly until: number } | undefined
  let making: Promise<AccessToken> | undefined
  let refusedAt = Number.NEGATIVE_INFINITY

  async function make(): Promise<AccessToken> {
    const assertion = assertionOf(account, scope, Date.now())
    const result = await http.request({
      url: account.tokenUri,
      headers: { 'content-type': 'application/x-www-form-urlencoded' },
      body: new URLSearchParams({ grant_type: GRANT, assertion }).toString(),
    })
    const made = readToken(result)
    if (made.kind === 'refused') return redactor([assertion])(made.outcome) as AccessToken
    const lifeMs = made.seconds * 1000
    kept = { token: made.token, until: Date.now() + lifeMs - Math.min(MARGIN_MS, lifeMs / 2) }
    return { kind: 'token', token: made.token }
  }

  return {
    get(signal) {
      if (kept !== undefined && Date.now() < kept.until) {
        return Promise.resolve({ kind: 'token', token: kept.token })
      }
      making ??= make().finally(() => {
        making = undefined
      })
      return orAborted(making, signal)
    },
    refused(token) {
      // Another message with the same answer has already reported it.
      if (kept?.token !== token) return true
      kept = undefined
      const again = Date.now() - refusedAt < REFUSED_AGAIN_MS
      refusedAt = Date.now()
      return !again
    },
  }
}

function assertionOf(account: ServiceAccount, scope: string, nowMs: number): string {
  const iat = Math.floor(nowMs / 1000)
  const { clientEmail, privateKey, privateKeyId, tokenUri } = account
  const header = { alg: 'RS256', typ: 'JWT', ...(privateKeyId === undefined ? {} : { kid: privateKeyId }) }
  const claims = { iss: clientEmail, scope, aud: tokenUri, iat, exp: iat + ASSERTION_SECONDS }
  const signed = [header, claims]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .join('.')
  return `${signed}.${sign('sha256', Buffer.from(signed), privateKey).toString('base64url')}`
}

type Made =
  | { readonly kind: 'token'; readonly token: string; readonly seconds: number }
  | { readonly kind: 'refused'; readonly outcome: Outcome }

/** No message is sent in this step, so its failures are never ambiguous. */
function readToken(result: HttpResult): Made {
  if (result.kind === 'failed') return unavailable(result.message, result.reason)
  const { status, headers, body, cut = false } = result
  const json = cut ? undefined : jsonOf(body)
  const token = textMember(json, 'access_token')
  const seconds = Number(member(json, 'expires_in'))
  if (status === 200 && token !== undefined && /^[\x21-\x7e]+$/.test(token) && seconds > 0) {
    return { kind: 'token', token, seconds }
  }
  // RFC 6749 5.2: `error` is a code, `error_description` a sentence.
  const code = textMember(json, 'error') ?? String(status)
  const said = textMember(json, 'error_description') ?? 'it gave no reason'
  if (status < 400 || status >= 500 || status === 408 || status === 429) {
    const retryAfterMs = parseRetryAfter(headers['retry-after'], Date.now())
    return unavailable(`Google issued no access token: ${status}.`, code, retryAfterMs)
  }
  return {
    kind: 'refused',
    outcome: {
      kind: 'rejected',
      code: 'provider_auth_failed',
      scope: 'account',
      message: `Google refuses the service account: ${said}`,
      providerCode: code,
    },
  }
}

function unavailable(message: string, providerCode: string, retryAfterMs?: number): Made {
  const code = 'provider_unavailable'
  return {
    kind: 'refused',
    outcome: { kind: 'retry', code, scope: 'provider', message, providerCode, retryAfterMs },
  }
}

function orAborted(making: Promise<AccessToken>, signal: AbortSignal): Promise<AccessToken> {
  return new Promise((resolve) => {
    const onAbort = (): void =>
      resolve({
        kind: 'retry',
        code: 'provider_unavailable',
        scope: 'provider',
        message: 'The attempt was aborted before the access token arrived.',
      })
    signal.addEventListener('abort', onAbort, { once: true })
    if (signal.aborted) onAbort()
    making.then(resolve, onAbort).finally(() => signal.removeEventListener('abort', onAbort))
  })
}
