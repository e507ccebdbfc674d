import type { Outcome } from '../../core/notification/outcome.ts'
import type { Message, Provider } from '../../core/ports/provider.ts'

/** A provider under test with a simulated service. */
export interface ProviderHarness {
  readonly provider: Provider
  /** A message that the provider can deliver; the contract replaces its body. */
  readonly message: Message
  /** Credentials and other secrets that must appear in no outcome and no log line. */
  readonly secrets: readonly string[]
  /** Sets the behaviour of the service from now on. */
  act(behaviour: ProviderAct): void
  /** The same for behaviour over HTTP only, with `traits.http`. */
  actHttp?(behaviour: HttpAct): void
  /** Messages that the service has accepted, oldest first, read independently of the provider. */
  taken(): Promise<readonly TakenMessage[]>
  /** Resolves when the service hangs after a complete message. */
  hanging(): Promise<void>
  /** Maximum number of concurrent connections so far. */
  mostConnections(): number
  /** Resolves when no connection is open. */
  drained(): Promise<void>
  /**
   * Makes the same provider with another address of its service, and a message for it. No service answers there: the
   * contract uses a closed port of this machine and an unknown host. Null: the service has no such address.
   */
  elsewhere(host: string, port: number): Pick<ProviderHarness, 'provider' | 'message'> | null
  /** Ends the service, after the contract has closed the provider. */
  close(): Promise<void>
}

/** `hang`: receives a complete message and never answers. `break`: receives it and closes the connection. */
export type ProviderAct =
  | { readonly kind: 'accept' | 'hang' | 'break' }
  | { readonly kind: 'answer'; readonly row: string }

/**
 * Behaviour over HTTP, after a complete message. `hang-in-body`, `truncate`, `endless`: starts a successful answer,
 * then hangs, closes the connection, or never ends. `html`: a page with the status of success. `empty`: that status
 * without a body. `fault`: a page with this status. `redirect`: 307 to this address. `overloaded`: the service's answer
 * to too many requests, with this `Retry-After`; null: without. `encoded`: accepts the message, and answers with this content
 * coding although the request does not ask for it.
 */
export type HttpAct =
  | { readonly kind: 'hang-in-body' | 'truncate' | 'endless' | 'html' | 'empty' }
  | { readonly kind: 'fault'; readonly status: number }
  | { readonly kind: 'redirect'; readonly to: string }
  | { readonly kind: 'overloaded'; readonly retryAfter: string | null }
  | { readonly kind: 'encoded'; readonly coding: 'gzip' | 'deflate' | 'br' }

/** Properties of a provider that add checks. */
export interface ProviderTraits {
  /** Uses HTTP, and only a readable answer counts, see `statusAlone`. Default false. */
  readonly http?: boolean | undefined
  /** With `http`: a status of success suffices with any body; `'empty'`: not with an unexpected body. Default false. */
  readonly statusAlone?: boolean | 'empty' | undefined
  /** Its answers may have `Retry-After`. Default true. */
  readonly retryAfter?: boolean | undefined
}

/** A message as the service understood it. */
export interface TakenMessage {
  readonly to: string
  readonly body: string
  /** Identifies two attempts of one notification to the service or the recipient. Null: impossible. */
  readonly id: string | null
  /** Required of a provider of mails, that is of the kind `email` or without a kind and with a mail address in `message`. */
  readonly mail?: TakenMail | undefined
}

/** A mail as the service understood it, with its addressees. Addresses are without names, in any order. */
export interface TakenMail {
  readonly cc: readonly string[]
  readonly bcc: readonly string[]
  readonly replyTo: readonly string[]
  /** Null: none. */
  readonly text: string | null
  /** Null: none. */
  readonly html: string | null
  /** In their order. */
  readonly attachments: readonly {
    readonly filename: string
    readonly contentType: string
    readonly content: Uint8Array
  }[]
}

/** An entry of the service's error table: the harness plays it, and the provider must return the outcome. */
export interface OutcomeRow {
  readonly row: string
  readonly outcome: { readonly kind: Outcome['kind'] } & Readonly<Record<string, unknown>>
}
