import type { PostResult } from '../../../../src/domain/http-answer.ts'
import type { ProviderHttp, ProviderRequest } from './provider-http.ts'

/**
 * One call of a vendor's client whose requests go through our own HTTP: so the signal ends it, connections are ours, and
 * it is known whether anything was sent, which no client tells.
 */
export interface CapturedCall {
  readonly signal: AbortSignal
  /** What the client sends its request by. */
  request(request: Omit<ProviderRequest, 'signal'>): Promise<PostResult>
}

/** How the call of a client ended. */
export interface CapturedEnd {
  /** How the last request ended; undefined: there was none. */
  readonly result: PostResult | undefined
  /** What the client answered, or threw. */
  readonly value: unknown
  readonly error: unknown
}

/** Runs a client. Never rejects; ends soon after the signal aborts, whatever the client waits for. */
export async function captureCall(
  http: ProviderHttp,
  signal: AbortSignal,
  run: (call: CapturedCall) => Promise<unknown>,
): Promise<CapturedEnd> {
  let begun = false
  let result: PostResult | undefined
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
  // A request that has begun ends by the same signal, and says how far it came.
  if (first === 'aborted' && !begun) return { result: undefined, value: undefined, error: signal.reason }
  return { ...(first === 'aborted' ? await running : first), result }
}
