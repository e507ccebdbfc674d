import type { Outcome } from '../../domain/outcome.ts'
import type { Message, Provider } from '../../ports/provider.ts'

/** A channel before a provider that the harness plays. */
export interface ProviderHarness {
  readonly channel: Provider
  /** A message that the channel can deliver; the contract puts its own text into the body. */
  readonly message: Message
  /** Credentials and the like, which must appear in no outcome and no log line. */
  readonly secrets: readonly string[]
  /** What the provider does from now on. */
  act(how: ProviderAct): void
  /** The same, with what only HTTP can do; for `traits.http`. */
  actHttp?(how: HttpAct): void
  /** Messages that the provider has taken responsibility for, oldest first: the second door. */
  taken(): Promise<readonly TakenMessage[]>
  /** Resolves when the provider, told to hang, has one whole message and stays silent. */
  hanging(): Promise<void>
  /** Most connections that were open to the provider at one time. */
  mostConnections(): number
  /** Resolves when no connection to the provider is open. */
  drained(): Promise<void>
  /**
   * Makes another channel like this one, whose provider is at this address, and a message for it. Nothing answers there:
   * the contract names a closed port of this machine, and a host that does not exist. Null: the channel has no provider
   * at such an address.
   */
  elsewhere(host: string, port: number): Pick<ProviderHarness, 'channel' | 'message'> | null
  /** Ends the provider. The contract has closed the channel before. */
  close(): Promise<void>
}

/** `hang`: takes a whole message and never answers. `break`: takes one and ends the connection. */
export type ProviderAct =
  | { readonly kind: 'accept' | 'hang' | 'break' }
  | { readonly kind: 'answer'; readonly row: string }

/**
 * What only HTTP can do, all after a whole message was taken. `hang-in-body`, `truncate`, `endless`: begins its answer of
 * success and falls silent, ends the connection, or never ends the answer. `html`: a page with the status of success.
 * `empty`: that status and nothing. `fault`: a page with this status. `redirect`: 307 to this address. `overloaded`: the
 * provider's answer to too many requests, with this `Retry-After`; null: without one.
 */
export type HttpAct =
  | { readonly kind: 'hang-in-body' | 'truncate' | 'endless' | 'html' | 'empty' }
  | { readonly kind: 'fault'; readonly status: number }
  | { readonly kind: 'redirect'; readonly to: string }
  | { readonly kind: 'overloaded'; readonly retryAfter: string | null }

/** What a provider does beyond the rest: more is checked. */
export interface ProviderTraits {
  /** It is called over HTTP, and only an answer that can be read counts as its word, see `statusAlone`. Default false. */
  readonly http?: boolean | undefined
  /**
   * With `http`: a status of success is its whole word, whatever stands below it; `'empty'`: where nothing does. Default
   * false.
   */
  readonly statusAlone?: boolean | 'empty' | undefined
  /** Its answers over HTTP may carry `Retry-After`. Default true. */
  readonly retryAfter?: boolean | undefined
}

/** One message as the provider understood it. */
export interface TakenMessage {
  readonly to: string
  readonly body: string
  /** What tells the provider or the recipient that two attempts are one notification; null: nothing does. */
  readonly id: string | null
}

/** One row of the provider's table of errors: the harness plays it, the channel must answer with the outcome. */
export interface OutcomeRow {
  readonly row: string
  readonly outcome: { readonly kind: Outcome['kind'] } & Readonly<Record<string, unknown>>
}
