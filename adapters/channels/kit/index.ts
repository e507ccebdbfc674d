export {
  type PostAnswer as HttpAnswer,
  type PostFailure as HttpFailure,
  type PostResult as HttpResult,
  parseRetryAfter,
} from '../../../src/core/channels/http-answer.ts'
export { envelopeAddress } from '../../../src/core/channels/mail-parts.ts'
export { type Mailbox, parseMailbox } from '../../../src/core/channels/mailbox.ts'
export type { Steps } from '../../../src/core/loop/steps.ts'
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
export { asciiMailboxText, asciiText, mailboxText, mailboxTexts } from './mail/header-text.ts'
export { htmlToText } from './mail/html-to-text.ts'
export { type ApiMail, base64, filesOf, sendMail } from './mail/mail-api.ts'
export { acceptedMessageIdOf, type MailContent, messageIdOf } from './mail/mail-content.ts'
export { type MailFrame, type MailOptions, mailFrame, sendersOnly } from './mail/mail-frame.ts'
export { unsubscribeHeaders } from './mail/parts-fault.ts'
export { redactor } from './redact.ts'
export { isUnsent, notBegun } from './unsent.ts'
