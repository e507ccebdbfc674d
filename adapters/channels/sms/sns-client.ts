import { Readable } from 'node:stream'
import type { CapturedCall } from '../http/captured-call.ts'
import { loadPeer } from '../peer.ts'

/** The part of `@aws-sdk/client-sns` (3) that is used; typed here so that no declaration of ours needs the package. */
export interface SnsModule {
  readonly SNSClient: new (options: Readonly<Record<string, unknown>>) => SnsClient
  readonly PublishCommand: new (input: Readonly<Record<string, unknown>>) => object
}

export interface SnsClient {
  send(command: object, options: Readonly<Record<string, unknown>>): Promise<unknown>
  destroy(): void
}

/** What the client hands to what sends its requests. */
interface SdkRequest {
  readonly method: string
  readonly protocol: string
  readonly hostname: string
  readonly port?: number | undefined
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | undefined
}

/** Under this name the options of a call carry what sends its request. */
const CALL = 'carillonCall'

/** @throws NotifierError `missing_peer` */
export async function loadSns(): Promise<SnsModule> {
  const module: unknown = await loadPeer('@aws-sdk/client-sns', () => import('@aws-sdk/client-sns'))
  return module as SnsModule
}

/** The options of one call, for {@link requestHandler}. */
export function callOptions(call: CapturedCall): Readonly<Record<string, unknown>> {
  return { abortSignal: call.signal, [CALL]: call }
}

/** Sends the signed requests of the client through our own HTTP. */
export const requestHandler: Readonly<Record<string, unknown>> = {
  metadata: { handlerProtocol: 'http/1.1' },
  destroy() {},
  async handle(request: SdkRequest, options: Readonly<Record<string, unknown>>) {
    const result = await (options[CALL] as CapturedCall).request({
      method: request.method,
      url: urlOf(request),
      headers: ownHeaders(request.headers),
      body: request.body,
    })
    if (result.kind === 'failed') throw new Error(result.message)
    const { status, headers, body } = result
    return { response: { statusCode: status, headers, body: Readable.from([Buffer.from(body, 'utf8')]) } }
  },
}

function urlOf({ protocol, hostname, port, path }: SdkRequest): string {
  return `${protocol}//${hostname}${port === undefined ? '' : `:${port}`}${path}`
}

/** Those of framing are written where the request is; they come out the same as those that were signed. */
function ownHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !/^(?:host|content-length|connection|expect)$/i.test(name)),
  )
}
