import type { HttpResult } from '../channels/http-answer.ts'

/**
 * HTTP client for addresses that users choose (webhook endpoints, the webhook channel, web push).
 *
 * An implementation MUST allow https only (unless opened for development), refuse credentials in the URL, follow no
 * redirect, check literal and resolved addresses against the deny list as it connects, apply one deadline to the whole
 * exchange, and read at most the requested bytes of the answer. Organizations MUST NOT share connections, and the number
 * of idle ones MUST be bounded.
 */
export interface OutgoingHttp {
  /** Sends a POST. Never rejects: every end is a {@link HttpResult}. */
  post(request: PostRequest): Promise<HttpResult>
  /** Sends a HEAD in the same way: whether something answers. */
  head(request: Omit<PostRequest, 'body'>): Promise<HttpResult>
  /**
   * Checks a URL as {@link post} would before it connects: form, scheme, credentials, port and literal address.
   *
   * @returns the fault in plain words; null: the URL is allowed
   */
  refuses(url: string): string | null
  /** Closes idle connections. */
  close(): Promise<void>
}

/**
 * The proxy through which a request goes.
 *
 * @returns its URL, with its user name and password; null: none
 */
export type ProxyFor = (url: URL) => URL | null

export interface PostRequest {
  /**
   * Whose request it is. HTTP/1.1 cannot tell the answer to a request from an unsolicited one, so on a shared connection one
   * organization's receiver could answer another organization's request.
   */
  readonly organizationId: string
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array
  /** Deadline for DNS lookup, connection, request and answer together, in milliseconds. */
  readonly timeoutMs: number
  /** Maximum number of bytes of the answer's body to keep; the rest is not read. Default 16 384. */
  readonly maxResponseBytes?: number | undefined
  readonly signal?: PostSignal | undefined
}

/** Aborts a post. Every AbortSignal fits; other implementations need to support one listener at a time. */
export interface PostSignal {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once?: boolean }): void
  removeEventListener(type: 'abort', listener: () => void): void
}
