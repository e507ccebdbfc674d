import type { Message, Provider } from '../../ports/provider.ts'
import type { ProviderHarness, TakenMessage } from './harness.ts'
import { type ProviderServerOptions, providerServer } from './provider-server.ts'
import type { ReceivedRequest } from './receiver.ts'

/** A provider that is called over HTTP, and the API that the harness plays for it. */
export interface HttpProviderHarnessOptions extends ProviderServerOptions {
  /** Makes the provider, given the address of its API. At most four connections make the contract quick. */
  provider(url: string): Provider
  /** A message that the provider can deliver, or a function of that address; the contract puts its own text into the body. */
  readonly message: Message | ((url: string) => Message)
  /** Credentials in every form in which they travel: no outcome and no log line may hold them. */
  readonly secrets: readonly string[]
  /** Reads the message out of a request as the provider would. */
  take(request: ReceivedRequest): TakenMessage | Promise<TakenMessage>
}

/**
 * What `providerContract` needs of a provider over HTTP, with a real server of its own:
 * `providerContract(test, () => httpProviderHarness({ …, rows: ROWS }), ROWS, { http: true })`.
 */
export async function httpProviderHarness(options: HttpProviderHarnessOptions): Promise<ProviderHarness> {
  const { provider, message, secrets, take } = options
  const server = await providerServer(options)
  const at = (url: string) => ({
    channel: provider(url),
    message: typeof message === 'function' ? message(url) : message,
  })
  return {
    ...at(server.url),
    secrets,
    act: server.act,
    actHttp: server.act,
    taken: () => Promise.all(server.taken.map((request) => take(request))),
    hanging: server.hanging,
    mostConnections: server.mostConnections,
    drained: server.drained,
    elsewhere: (host, port) => at(`${host === '127.0.0.1' ? 'http' : 'https'}://${host}:${port}`),
    close: server.close,
  }
}
