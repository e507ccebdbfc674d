import type { PostResult } from '../domain/http-answer.ts'

/**
 * The one way out to addresses that users choose (webhook endpoints, the webhook channel, web push).
 *
 * Implementations MUST allow https only (unless opened for development), refuse credentials in the URL, never
 * follow a redirect, judge literal and resolved addresses against the deny list at the moment of connecting,
 * hold the whole exchange under one deadline, and read no more of the answer than asked.
 */
export interface OutgoingHttp {
  /** Sends one POST. Never rejects: every end is a {@link PostResult}. */
  post(request: PostRequest): Promise<PostResult>
  /**
   * Judges a URL as {@link post} would before it connects: form, scheme, credentials, port and literal address.
   *
   * @returns what is wrong with it, for people; null when it may be used.
   */
  refuses(url: string): string | null
  /** Closes idle connections. */
  close(): Promise<void>
}

export interface PostRequest {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | Uint8Array
  /** One deadline for look-up, connect, request and answer, in milliseconds. */
  readonly timeoutMs: number
  /** Bytes of the answer's body that are kept; the rest is not read. Default 16 384. */
  readonly maxResponseBytes?: number | undefined
  readonly signal?: PostSignal | undefined
}

/** What ends a post early. Every AbortSignal is one; others need to know one listener at a time. */
export interface PostSignal {
  readonly aborted: boolean
  addEventListener(type: 'abort', listener: () => void, options?: { readonly once?: boolean }): void
  removeEventListener(type: 'abort', listener: () => void): void
}
