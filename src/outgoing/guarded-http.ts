import type { HttpResult } from '../core/channels/http-answer.ts'
import type { OutgoingHttp, PostRequest } from '../core/ports/outgoing.ts'
import { addressGuard } from './address-guard.ts'
import { createConnections } from './connections.ts'
import { dnsLookup } from './dns-lookup.ts'
import { exchange } from './exchange.ts'
import { guardedLookup, type LookupAll, systemLookup } from './guarded-lookup.ts'
import { checkUrl } from './url-guard.ts'

/** Options of {@link guardedHttp}. */
export interface GuardedHttpOptions {
  /**
   * CIDR blocks to let through although they are not public, for receivers on this machine during development. Names
   * are then resolved by the system, including its hosts file.
   *
   * @default none
   */
  readonly allow?: readonly string[] | undefined
  /**
   * Accept `http:` URLs, too, on port 80 and above 1023. For development.
   *
   * @default false
   */
  readonly allowHttp?: boolean | undefined
  /**
   * Prefix of these options' names in errors: `webhooks.`
   *
   * @default none
   */
  readonly options?: string | undefined
  /**
   * Certificates (PEM) to trust instead of the runtime's list, for receivers with a private authority.
   *
   * @default the runtime's list
   */
  readonly ca?: string | readonly string[] | undefined
  /**
   * Maximum number of connections of one organization to one host and port. Many receivers can share a host: if they
   * must not wait for each other, limit the requests to each instead.
   *
   * @default the number of concurrent requests
   */
  readonly maxConnections?: number | undefined
  /**
   * Resolves names; every result is checked.
   *
   * @default DNS; with `allow` the system's resolver
   */
  readonly lookup?: LookupAll | undefined
}

const DEFAULT_BODY_BYTES = 16_384
/** Each is an open file, of which many systems allow a process 1024. */
const MOST_IDLE = 256

/**
 * The HTTP client for addresses that users choose: see the port {@link OutgoingHttp}.
 *
 * @throws NotifierError `invalid_configuration` for an invalid block in `allow`
 */
export function guardedHttp(options: GuardedHttpOptions = {}): OutgoingHttp {
  const { allow = [], allowHttp = false, ca, maxConnections, options: named = '' } = options
  const guard = addressGuard(allow)
  const connections = createConnections({
    most: maxConnections,
    mostIdle: MOST_IDLE,
    guard,
    // Connections are pinned to the checked address; each new one is checked again.
    lookup: guardedLookup(guard, options.lookup ?? (allow.length === 0 ? dnsLookup() : systemLookup)),
    ca: ca === undefined ? undefined : [ca].flat(),
  })

  function send(method: 'POST' | 'HEAD', request: PostRequest): Promise<HttpResult> {
    const startedAt = performance.now()
    const checked = checkUrl(request.url, guard, allowHttp, named)
    if (checked.kind === 'refused') {
      return Promise.resolve({
        kind: 'failed',
        reason: 'blocked',
        requestSent: false,
        message: checked.why,
        durationMs: 0,
      })
    }
    return exchange({
      method,
      url: checked.url,
      owner: request.organizationId,
      connections,
      headers: request.headers,
      body: request.body,
      timeoutMs: request.timeoutMs,
      maxResponseBytes: request.maxResponseBytes ?? DEFAULT_BODY_BYTES,
      signal: request.signal,
      startedAt,
    })
  }

  return {
    post: (request) => send('POST', request),
    head: (request) => send('HEAD', { ...request, body: '' }),
    refuses(url) {
      const checked = checkUrl(url, guard, allowHttp, named)
      return checked.kind === 'refused' ? checked.why : null
    },
    close() {
      connections.close()
      return Promise.resolve()
    },
  }
}
