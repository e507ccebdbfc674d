export type {
  BodySource,
  ChannelLint,
  CheckedMessage,
  LintedText,
  OrganizationLimits,
  PartLinks,
  RecipientFault,
  StoredParts,
} from '../../../src/core/channels/channel-kind.ts'
export {
  type HttpAnswer,
  type HttpFailure,
  type HttpResult,
  parseRetryAfter,
} from '../../../src/core/channels/http-answer.ts'
export { envelopeAddress } from '../../../src/core/channels/mail-parts.ts'
export { type Mailbox, parseMailbox } from '../../../src/core/channels/mailbox.ts'
export type { Steps } from '../../../src/core/loop/steps.ts'
export type {
  Accepted,
  Ambiguous,
  FailureDetail,
  FaultScope,
  Outcome,
  RefusedCopy,
  Rejected,
  Retry,
} from '../../../src/core/notification/outcome.ts'
export type { ProxyFor } from '../../../src/core/ports/outgoing.ts'
export type {
  EarlierMessage,
  Message,
  MessageText,
  OpenContext,
  PartsRefusal,
  SendContext,
} from '../../../src/core/ports/provider.ts'
export type {
  ConfirmedReceipts,
  ParsedReceipts,
  Receipt,
  ReceiptRequest,
  ReceivedText,
} from '../../../src/core/ports/receipts.ts'
export { assertWorks } from './check.ts'
export {
  type Classification,
  member,
  type ProviderAnswer,
  type ProviderWords,
  type ReadOutcome,
  refuse,
  textMember,
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
