import type { PostResult } from '../../../../src/domain/http-answer.ts'
import type { Outcome } from '../../../../src/domain/outcome.ts'
import { createConnections } from '../../../../src/outgoing/connections.ts'
import { createDial } from '../../../../src/outgoing/dial.ts'
import { exchange } from '../../../../src/outgoing/exchange.ts'
import { redactor } from '../redact.ts'
import { type Judge, judgeResult } from './provider-answer.ts'

/** What all requests of one provider instance have in common. */
export interface ProviderHttpOptions {
  /** Most connections, and so most requests under way, at one time. */
  readonly maxConnections: number
  /** One deadline for waiting, look-up, connection, request and answer, in milliseconds. */
  readonly timeoutMs: number
  /** Credentials, in every form in which they travel: no outcome repeats them. */
  readonly secrets: readonly string[]
}

export interface ProviderRequest {
  /** @default 'POST' */
  readonly method?: string | undefined
  /** An address that the application chose, never one that its users choose: nothing guards it. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | undefined
  readonly signal?: AbortSignal | undefined
}

/** The way to the HTTP API of one provider, over kept connections. */
export interface ProviderHttp {
  /** Hands a message over. Never rejects; what the answer means is said by `judge`, and by its status where it is silent. */
  send(request: ProviderRequest, judge: Judge): Promise<Outcome>
  /** Anything that is no message: a token, a certificate, a check. Never rejects. */
  request(request: ProviderRequest): Promise<PostResult>
  /** Ends all connections; what is sent afterwards does not leave. */
  close(): void
}

/** More than any answer that is read; error pages are longer. */
const MAX_ANSWER_BYTES = 262_144

/** Keeps connections to a provider's API. Redirects are not followed, and of an answer 256 KiB are read. */
export function providerHttp(options: ProviderHttpOptions): ProviderHttp {
  const { maxConnections, timeoutMs, secrets } = options
  // One bound for all, also where requests go to several hosts.
  const connections = createConnections({ most: maxConnections, dial: createDial({ guard: null }) })
  const redact = redactor(secrets)
  let closed = false

  const request = ({
    method = 'POST',
    url: text,
    headers,
    body = '',
    signal,
  }: ProviderRequest): Promise<PostResult> => {
    const startedAt = performance.now()
    if (closed) return Promise.resolve(notBegun())
    const url = new URL(text)
    return exchange({
      method,
      url,
      connectionsTo: () => connections,
      headers,
      body,
      timeoutMs,
      maxResponseBytes: MAX_ANSWER_BYTES,
      signal,
      startedAt,
    })
  }

  return {
    request,
    async send(message, judge) {
      return redact(judgeResult(await request(message), judge))
    },
    close() {
      closed = true
      connections.close()
    },
  }
}

function notBegun(): PostResult {
  return {
    kind: 'failed',
    reason: 'aborted',
    requestSent: false,
    message: 'The channel is closed.',
    durationMs: 0,
  }
}
