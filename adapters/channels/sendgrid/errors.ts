import type { Outcome } from '../../../src/core/notification/outcome.ts'
import {
  byStatus,
  type Classification,
  member,
  type ProviderAnswer,
  refuse,
  textMember,
} from '../kit/http/provider-answer.ts'

/**
 * The outcome of an answer to `POST /v3/mail/send`. SendGrid has no error codes, so status, field name and text decide.
 */
export function sendgridOutcome(answer: ProviderAnswer): Outcome | null {
  const id = answer.headers['x-message-id'] ?? ''
  if (answer.status === 202 && id !== '') return { kind: 'accepted', providerMessageId: id }
  // A proxy may drop the header with the id. Reports also carry our id, and a repeated attempt would send a second
  // mail.
  if (answer.status === 202 && answer.text === '') return { kind: 'accepted' }
  if (answer.status < 400) return null
  const errors = member(answer.json, 'errors')
  const first: unknown = Array.isArray(errors) ? errors[0] : undefined
  const message = textMember(first, 'message') ?? ''
  const field = textMember(first, 'field') ?? ''
  return refuse(
    answer,
    {
      code: field === '' ? answer.status : `${answer.status} ${field}`,
      message,
      retryAfterMs: answer.retryAfterMs ?? untilReset(answer),
    },
    classify(answer.status, field, message),
  )
}

/** The outcome of an answer to `GET /v3/scopes`, the permissions of the key. */
export function scopesOutcome(answer: ProviderAnswer): Outcome | null {
  if (answer.status !== 200) return sendgridOutcome(answer)
  const scopes = member(answer.json, 'scopes')
  if (!Array.isArray(scopes)) return null
  if (scopes.includes('mail.send')) return { kind: 'accepted' }
  return refuse(answer, { message: 'The API key may not send mail: it lacks the scope "mail.send".' }, [
    'rejected',
    'provider_auth_failed',
    'account',
  ])
}

function classify(status: number, field: string, message: string): Classification {
  if (status === 400) {
    if (/^from\b/.test(field)) return ['rejected', 'invalid_sender', 'account']
    if (/^personalizations\.\d+\.(?:to|cc|bcc)\b/.test(field)) {
      return ['rejected', 'invalid_recipient', 'recipient']
    }
  }
  if (status === 401 && /credits? exceeded/i.test(message)) {
    return ['retry', 'provider_quota_exceeded', 'account']
  }
  if (status === 403 && /sender identity/i.test(message)) return ['rejected', 'invalid_sender', 'account']
  return byStatus(status)
}

/** `X-RateLimit-Reset`: end of the window, in Unix seconds. */
function untilReset({ headers }: ProviderAnswer): number | undefined {
  const seconds = Number(headers['x-ratelimit-reset'])
  const waitMs = seconds * 1000 - Date.now()
  return waitMs > 0 ? waitMs : undefined
}
