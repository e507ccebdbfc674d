import type { ChannelKind } from '../../../../src/core/channels/channel-kind.ts'
import type { Outcome } from '../../../../src/core/notification/outcome.ts'
import type { Message, Provider, SendContext } from '../../../../src/core/ports/provider.ts'
import { assertWorks } from '../check.ts'
import { type ProviderHttp, providerHttp } from './provider-http.ts'

/** The common options of HTTP providers, validated. */
type HttpProviderSettings = {
  readonly [Option in 'name' | 'maxConcurrent' | 'maxPerSecond' | 'onAmbiguous' | 'retry']: Provider[Option]
} & { readonly timeoutMs: number }

/** The properties of every HTTP provider. */
export function describeProvider<Kind extends ChannelKind>(
  kind: Kind,
  { name, maxConcurrent, maxPerSecond, timeoutMs, onAmbiguous, retry }: HttpProviderSettings,
): Omit<Provider<Kind>, 'send'> {
  return {
    name,
    kind,
    maxConcurrent,
    maxPerSecond,
    // The request's own deadline comes first and produces a better message.
    timeoutMs: timeoutMs + 1_000,
    onAmbiguous,
    retry,
  }
}

type Hooks<Kind extends ChannelKind> = Pick<
  Provider<Kind>,
  'accepts' | 'refuses' | 'threadIdOf' | 'parseReceipts' | 'confirmReceipts'
>

/** An HTTP API with its own credentials. */
export interface HttpApi<Kind extends ChannelKind> {
  /** The provider, as the start of a sentence. */
  readonly title: string
  /** Credentials in every encoding that requests use. */
  readonly secrets: readonly string[]
  send(message: Message<Kind>, context: SendContext, http: ProviderHttp): Promise<Outcome>
  /** Makes a harmless request. Absent: none shows whether the credentials work. */
  check?(http: ProviderHttp): Promise<Outcome>
  readonly hooks?: Hooks<Kind> | undefined
}

/** A provider over an HTTP API, with its own connections. */
export function httpProvider<Kind extends ChannelKind>(
  kind: Kind,
  settings: HttpProviderSettings & { readonly maxConcurrent: number },
  { title, secrets, send, check, hooks }: HttpApi<Kind>,
): Provider<Kind> {
  const { maxConcurrent: maxConnections, timeoutMs } = settings
  const http = providerHttp({ maxConnections, timeoutMs, secrets })
  return {
    ...describeProvider(kind, settings),
    ...hooks,
    send: (message, context) => send(message, context, http),
    open: async ({ proxyFor }) => http.through(proxyFor),
    ...(check && { check: async () => assertWorks(await check(http), title) }),
    close: () => http.close(),
  }
}
