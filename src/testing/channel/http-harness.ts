import type { Message, Provider } from '../../core/ports/provider.ts'
import type { ProviderHarness, TakenMessage } from './harness.ts'
import { type ProviderServerOptions, providerServer } from './provider-server.ts'
import type { ReceivedRequest } from './receiver.ts'

/** A provider that uses HTTP, with the simulated API of its service. */
export interface HttpProviderHarnessOptions extends ProviderServerOptions {
  /** Makes the provider for the address of its API. At most four connections keep the contract fast. */
  provider(url: string): Provider
  /** A message that the provider can deliver, or a function of that address; the contract replaces its body. */
  readonly message: Message | ((url: string) => Message)
  /** Credentials in all encodings: no outcome and no log line may contain them. */
  readonly secrets: readonly string[]
  /** Reads the message in a request as the service would. */
  take(request: ReceivedRequest): TakenMessage | Promise<TakenMessage>
}

/**
 * A harness of {@link providerContract} for a provider over HTTP, with a real server.
 *
 * @example
 * const harness = await httpProviderHarness({
 *   provider: (url) => acmeSms({ apiKey: 'secret-key', url }),
 *   message: { to: '+14155550123', subject: null, body: '', format: 'text' },
 *   secrets: ['secret-key'],
 *   accept: (_, number) => ({ status: 201, body: { id: `m${number}` } }),
 *   take: ({ headers, body }) => ({ ...JSON.parse(String(body)), id: String(headers['idempotency-key']) }),
 * })
 */
export async function httpProviderHarness(options: HttpProviderHarnessOptions): Promise<ProviderHarness> {
  const { provider, message, secrets, take } = options
  const server = await providerServer(options)
  const at = (url: string) => ({
    provider: provider(url),
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
