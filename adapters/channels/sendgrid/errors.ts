import type { Outcome } from '../../../src/domain/outcome.ts'
import {
  byStatus,
  member,
  type ProviderAnswer,
  refuse,
  textMember,
  type Verdict,
} from '../kit/http/provider-answer.ts'

/**
 * Reads an answer of `POST /v3/mail/send`. SendGrid has no error codes: the
 * status, the field that is named and the words tell.
 */
export function judgeSendgrid(answer: ProviderAnswer): Outcome | null {
  const id = answer.headers['x-message-id'] ?? ''
  if (answer.status === 202 && id !== '') return { kind: 'accepted', providerMessageId: id }
  // Something between may drop the header: the reports carry our id as well, and a repetition would be a second mail.
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
    verdictOf(answer.status, field, message),
  )
}

/** Reads an answer of `GET /v3/scopes`: what the key may do. */
export function judgeScopes(answer: ProviderAnswer): Outcome | null {
  if (answer.status !== 200) return judgeSendgrid(answer)
  const scopes = member(answer.json, 'scopes')
  if (!Array.isArray(scopes)) return null
  if (scopes.includes('mail.send')) return { kind: 'accepted' }
  return refuse(answer, { message: 'The API key may not send mail: it lacks the scope "mail.send".' }, [
    'rejected',
    'provider_auth_failed',
    'account',
  ])
}

function verdictOf(status: number, field: string, message: string): Verdict {
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

/** `X-RateLimit-Reset`: the second at which the window ends. */
function untilReset({ headers }: ProviderAnswer): number | undefined {
  const seconds = Number(headers['x-ratelimit-reset'])
  const waitMs = seconds * 1000 - Date.now()
  return waitMs > 0 ? waitMs : undefined
}
