import type { HttpResult } from '../../../../src/core/channels/http-answer.ts'
import type { ProviderHttp, ProviderRequest } from './provider-http.ts'

/**
 * One call of a vendor's client with our own HTTP underneath. So the signal ends it, connections are pooled here, and
 * we know whether a request was sent, which the clients do not tell.
 */
export interface CapturedCall {
  readonly signal: AbortSignal
  /** The HTTP function for the client. */
  request(request: Omit<ProviderRequest, 'signal'>): Promise<HttpResult>
}

/** The end of a client's call. */
export interface CapturedEnd {
  /** Result of the last request. Undefined: no request was made. */
  readonly result: HttpResult | undefined
  /** Return value or error of the client. */
  readonly value: unknown
  readonly error: unknown
}

/** Runs a client. Never rejects. Ends soon after the signal aborts, even if the client waits for something else. */
export async function captureCall(
  http: ProviderHttp,
  signal: AbortSignal,
  run: (call: CapturedCall) => Promise<unknown>,
): Promise<CapturedEnd> {
  let begun = false
  let result: HttpResult | undefined
  const running = run({
    signal,
    async request(request) {
      begun = true
      result = await http.request({ ...request, signal })
      return result
    },
  }).then(
    (value: unknown) => ({ value, error: undefined }),
    (error: unknown) => ({ value: undefined, error }),
  )
  let stop = (): void => {}
  const aborted = new Promise<'aborted'>((resolve) => {
    stop = () => resolve('aborted')
    if (signal.aborted) stop()
    else signal.addEventListener('abort', stop, { once: true })
  })
  const first = await Promise.race([running, aborted])
  signal.removeEventListener('abort', stop)
  // A running request ends with the same signal and reports how far it got.
  if (first === 'aborted' && !begun) return { result: undefined, value: undefined, error: signal.reason }
  return { ...(first === 'aborted' ? await running : first), result }
}
