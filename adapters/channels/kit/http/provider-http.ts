import type { HttpFailure, HttpResult } from '../../../../src/core/channels/http-answer.ts'
import type { Outcome } from '../../../../src/core/notification/outcome.ts'
import type { ProxyFor } from '../../../../src/core/ports/outgoing.ts'
import { createConnections } from '../../../../src/outgoing/connections.ts'
import { exchange } from '../../../../src/outgoing/exchange.ts'
import { lateEnvironmentProxy } from '../../../../src/outgoing/proxy.ts'
import { redactor } from '../redact.ts'
import { outcomeOfResult, type ReadOutcome } from './provider-answer.ts'

/** Settings for all requests of one provider instance. */
export interface ProviderHttpOptions {
  /** Most connections, and so most concurrent requests, to one host. */
  readonly maxConnections: number
  /** Deadline for queueing, DNS lookup, connection, request and answer together, in milliseconds. */
  readonly timeoutMs: number
  /** Credentials in every encoding that requests use. Outcomes never contain them. */
  readonly secrets: readonly string[]
}

export interface ProviderRequest {
  /** @default 'POST' */
  readonly method?: string | undefined
  /** Chosen by the application, never by its users, so there is no guard. */
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | undefined
  readonly signal?: AbortSignal | undefined
}

/** HTTP client for one provider's API, with pooled connections. */
export interface ProviderHttp {
  /** Sends a message. Never rejects. `readOutcome` interprets the answer; if it returns null, the HTTP status decides. */
  send(request: ProviderRequest, readOutcome: ReadOutcome): Promise<Outcome>
  /** Sends any other request: for a token, a certificate, a check. Never rejects. */
  request(request: ProviderRequest): Promise<HttpResult>
  /** Chooses the proxy of later connections, as `open` of a provider is told. Default: the environment decides. */
  through(proxyFor: ProxyFor): void
  /** Ends all connections. Later requests fail unsent. */
  close(): void
}

/** No user chooses the hosts, so organizations share connections. */
const APPLICATION = ''

/** Larger than every answer that is parsed; error pages may be longer. */
const MAX_ANSWER_BYTES = 262_144

/**
 * Creates an HTTP client for a provider's API. It follows no redirects and reads at most 256 KiB of an answer.
 *
 * @example
 * const http = providerHttp({ maxConnections: 10, timeoutMs: 10_000, secrets: [apiKey] })
 * const send: Provider['send'] = ({ to, body }, { signal }) =>
 *   http.send({ url: 'https://api.acme.example/messages', headers, body: JSON.stringify({ to, body }), signal }, readOutcome)
 */
export function providerHttp(options: ProviderHttpOptions): ProviderHttp {
  const { maxConnections, timeoutMs, secrets } = options
  let proxyFor = lateEnvironmentProxy()
  const connections = createConnections({
    most: maxConnections,
    guard: null,
    proxyFor: (url) => proxyFor(url),
  })
  const redact = redactor(secrets)
  let closed = false

  const request = ({
    method = 'POST',
    url: text,
    headers,
    body = '',
    signal,
  }: ProviderRequest): Promise<HttpResult> => {
    const startedAt = performance.now()
    if (closed) return Promise.resolve(notBegun('aborted', 'The channel is closed.'))
    if (!/^https?:/i.test(text) || !URL.canParse(text)) {
      return Promise.resolve(
        notBegun('unreachable', 'The URL must be one that begins with https:// or http://.'),
      )
    }
    return exchange({
      method,
      url: new URL(text),
      owner: APPLICATION,
      connections,
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
    async send(message, readOutcome) {
      return redact(outcomeOfResult(await request(message), readOutcome))
    },
    through(given) {
      proxyFor = given
    },
    close() {
      closed = true
      connections.close()
    },
  }
}

function notBegun(reason: HttpFailure['reason'], message: string): HttpResult {
  return { kind: 'failed', reason, requestSent: false, message, durationMs: 0 }
}
