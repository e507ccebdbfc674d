export {
  type PostAnswer as HttpAnswer,
  type PostFailure as HttpFailure,
  type PostResult as HttpResult,
  parseRetryAfter,
} from '../../../src/domain/http-answer.ts'
export { assertWorks } from './check.ts'
export {
  type Judge,
  member,
  type ProviderAnswer,
  type ProviderWords,
  refuse,
  textMember,
  type Verdict,
} from './http/provider-answer.ts'
export {
  type ProviderHttp,
  type ProviderHttpOptions,
  type ProviderRequest,
  providerHttp,
} from './http/provider-http.ts'
export { dedupeKey, isFresh, sameText } from './http/receipt-request.ts'
export { redactor } from './redact.ts'
export { isUnsent, notBegun } from './unsent.ts'
