import type {
  ApiMail,
  MailFrame,
  Outcome,
  ProviderAnswer,
  ProviderHttp,
  ReadOutcome,
  ReceiptRequest,
  SendContext,
} from 'carillon/provider-kit'

export declare const answer: ProviderAnswer
export declare const client: { deliver(to: string, text: string): Promise<Outcome> }
export declare const context: SendContext
export declare const error: unknown
export declare const frame: MailFrame
export declare const headers: Readonly<Record<string, string>>
export declare const http: ProviderHttp
export declare const readOutcome: ReadOutcome
export declare const mail: ApiMail
export declare const request: ReceiptRequest
export declare const response: Response
