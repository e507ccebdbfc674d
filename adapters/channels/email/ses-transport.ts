import { Readable } from 'node:stream'
import type { PostResult } from '../../../src/domain/http-answer.ts'
import type { ProviderHttp } from '../http/provider-http.ts'
import { loadSes, type SdkRequest, type SesClient, type SesModule } from './sesv2.ts'

/** How a call through the SDK ended. */
export type SdkEnd =
  | { readonly kind: 'answered'; readonly output: Readonly<Record<string, unknown>> }
  | {
      readonly kind: 'failed'
      /** The SDK's name for it: an exception of the service, or a fault before the request. */
      readonly name: string
      readonly message: string
      /** How the request ended; null when there was none. */
      readonly result: PostResult | null
    }

export interface SesTransportOptions {
  readonly region: string
  readonly endpoint: string | null
  /** Keys, or a function that gives them; null: the SDK's own chain. */
  readonly credentials: object | (() => Promise<object>) | null
}

/** The SDK for what it knows (credentials, signatures, the form of requests); our core carries its requests. */
export interface SesTransport {
  /** Never rejects but for a missing package. */
  call(
    command: (module: SesModule) => object,
    signal: AbortSignal,
    expected?: readonly string[],
  ): Promise<SdkEnd>
  close(): void
}

/** @throws NotifierError `missing_peer` at the first call when the package is not installed */
export function sesTransport(options: SesTransportOptions, http: ProviderHttp): SesTransport {
  // The signal is what a call and the request that it becomes have in common.
  const calls = new WeakMap<
    AbortSignal,
    { result: PostResult | null; readonly expected: readonly string[] }
  >()
  let client: SesClient | undefined

  const requestHandler = {
    metadata: { handlerProtocol: 'http/1.1' },
    async handle(request: SdkRequest, { abortSignal }: { readonly abortSignal?: AbortSignal } = {}) {
      const call = abortSignal === undefined ? undefined : calls.get(abortSignal)
      const body = bytesOf(request.body)
      // An SDK from before a field existed leaves it out in silence.
      const lost = call?.expected.find((name) => !body.includes(`"${name}":`))
      if (lost !== undefined) throw new OldSdkError(lost)
      const result = await http.request({
        method: request.method,
        url: urlOf(request),
        headers: request.headers,
        body,
        signal: abortSignal,
      })
      if (call !== undefined) call.result = result
      if (result.kind === 'failed') throw new Error(result.message)
      const { status: statusCode, headers } = result
      return { response: { statusCode, headers, body: Readable.from([Buffer.from(result.body, 'utf8')]) } }
    },
    updateHttpClientConfig() {},
    httpHandlerConfigs: () => ({}),
    destroy() {},
  }

  return {
    async call(command, signal, expected = []) {
      const module = await loadSes()
      client ??= new module.SESv2Client({
        region: options.region,
        ...(options.endpoint === null ? {} : { endpoint: options.endpoint }),
        ...(options.credentials === null ? {} : { credentials: copyOf(options.credentials) }),
        // A channel never retries by itself: the engine counts attempts.
        maxAttempts: 1,
        requestHandler,
      })
      // One of its own for each call: callers may share a signal.
      const own = AbortSignal.any([signal])
      const call: { result: PostResult | null; readonly expected: readonly string[] } = {
        result: null,
        expected,
      }
      calls.set(own, call)
      try {
        return {
          kind: 'answered',
          output: await orAborted(client.send(command(module), { abortSignal: own }), own, call),
        }
      } catch (error) {
        const { name, message } = error instanceof Error ? error : new Error(String(error))
        return { kind: 'failed', name, message, result: call.result }
      }
    },
    close() {
      client?.destroy()
    },
  }
}

/** The SDK notes in the object that it is given where the keys came from: the caller's may be frozen, or used twice. */
function copyOf(credentials: object | (() => Promise<object>)): object {
  return typeof credentials === 'function' ? async () => ({ ...(await credentials()) }) : { ...credentials }
}

function bytesOf(body: unknown): Buffer {
  return body instanceof Uint8Array
    ? Buffer.from(body.buffer, body.byteOffset, body.byteLength)
    : Buffer.from(String(body ?? ''), 'utf8')
}

/** The installed SDK does not know a field that the mail needs. */
class OldSdkError extends Error {
  override readonly name = 'OldSdkError'
  constructor(field: string) {
    super(
      `The installed @aws-sdk/client-sesv2 does not send "${field}". Run: npm install @aws-sdk/client-sesv2@latest`,
    )
  }
}

/** The SDK looks for credentials before it looks at the signal. */
function orAborted<Value>(
  promise: Promise<Value>,
  signal: AbortSignal,
  call: { readonly result: PostResult | null },
): Promise<Value> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      // A request that is under way ends by itself, and says whether it had left.
      setImmediate(() => {
        if (call.result === null)
          reject(Object.assign(new Error('The attempt was aborted.'), { name: 'AbortError' }))
      })
    }
    signal.addEventListener('abort', onAbort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}

function urlOf({ protocol, hostname, port, path, query = {} }: SdkRequest): string {
  const url = new URL(`${protocol}//${hostname}${port === undefined ? '' : `:${port}`}${path}`)
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value ?? ''].flat()) url.searchParams.append(name, one)
  }
  return url.href
}
