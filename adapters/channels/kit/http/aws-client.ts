import { Readable } from 'node:stream'
import * as z from 'zod'
import { isNotifierError } from '../../../../src/core/errors/notifier-error.ts'
import type { Outcome } from '../../../../src/core/notification/outcome.ts'
import { redactor } from '../redact.ts'
import { notBegun } from '../unsent.ts'
import { type CapturedCall, type CapturedEnd, captureCall } from './captured-call.ts'
import { outcomeOfResult, type ReadOutcome } from './provider-answer.ts'
import type { ProviderHttp } from './provider-http.ts'
import { credential } from './provider-options.ts'

/** The members in use of a client of the AWS SDK 3. */
export interface AwsClient {
  send(command: object, options: Readonly<Record<string, unknown>>): Promise<unknown>
  destroy(): void
}

export interface AwsCredentials {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  readonly sessionToken?: string | undefined
}

type Credentials = AwsCredentials | (() => Promise<AwsCredentials>) | undefined

/** Schemas of the options `region` and `credentials`. */
export const awsShape: {
  readonly region: z.ZodType<string>
  readonly credentials: z.ZodType<Credentials>
} = {
  region: z.string().regex(/^[a-z0-9-]{1,40}$/, 'must be a region such as eu-central-1'),
  credentials: z
    .union([
      // Not strict: the SDK adds a field to the given object, which may be reused.
      z.object({
        accessKeyId: credential,
        secretAccessKey: credential,
        sessionToken: credential.optional(),
      }),
      z.custom<() => Promise<AwsCredentials>>((value) => typeof value === 'function', 'must be a function'),
    ])
    .optional(),
}

export interface AwsCallerOptions<Module> {
  readonly http: ProviderHttp
  readonly region: string
  /** Undefined: the SDK chooses the region's address. */
  readonly endpoint: string | undefined
  /** Keys, or a function that returns them. Undefined: the SDK's credential chain. */
  readonly credentials: Credentials
  /** Loads the package. */
  load(): Promise<Module>
  create(module: Module, options: Readonly<Record<string, unknown>>): AwsClient
}

/** Combines the AWS SDK (credentials, signatures, serialization) with our own HTTP client. */
export interface AwsCaller<Module> {
  /**
   * Never rejects.
   *
   * @param expected members that the request's JSON must have. An older SDK silently omits members that it does not
   *   know; the call then ends before it is sent
   */
  call(
    command: (module: Module) => object,
    signal: AbortSignal,
    readOutcome: (end: CapturedEnd) => ReadOutcome,
    expected?: readonly string[],
  ): Promise<Outcome>
  close(): Promise<void>
}

export function awsCaller<Module>(options: AwsCallerOptions<Module>): AwsCaller<Module> {
  const { http, region, endpoint, credentials } = options
  let opened: Promise<{ readonly module: Module; readonly client: AwsClient }> | undefined

  async function make(): Promise<{ readonly module: Module; readonly client: AwsClient }> {
    const module = await options.load()
    const client = options.create(module, {
      region,
      ...(endpoint === undefined ? {} : { endpoint }),
      ...(credentials === undefined ? {} : { credentials: copyOf(credentials) }),
      // The engine counts and repeats attempts.
      maxAttempts: 1,
      requestHandler,
    })
    return { module, client }
  }

  function open(): ReturnType<typeof make> {
    const opening = opened ?? make()
    opened = opening
    opening.catch(() => {
      if (opened === opening) opened = undefined
    })
    return opening
  }

  return {
    async call(command, signal, readOutcome, expected = []) {
      if (signal.aborted) return notBegun()
      const secrets =
        typeof credentials === 'object' ? [credentials.secretAccessKey, credentials.sessionToken ?? ''] : []
      const end = await captureCall(http, signal, async (captured) => {
        const { module, client } = await open()
        const own = { [CALL]: captured, [EXPECTED]: expected, [SECRETS]: secrets }
        return client.send(command(module), { abortSignal: captured.signal, ...own })
      })
      const redact = redactor(secrets)
      if (end.result !== undefined) return redact(outcomeOfResult(end.result, readOutcome(end)))
      return signal.aborted ? notBegun() : redact(withoutRequest(end.error))
    },
    async close() {
      const pending = opened
      opened = undefined
      if (pending !== undefined) (await pending.catch(() => null))?.client.destroy()
    },
  }
}

/** The SDK records the source of keys in the given object, which may be frozen or shared. */
function copyOf(credentials: object | (() => Promise<object>)): object {
  return typeof credentials === 'function' ? async () => ({ ...(await credentials()) }) : { ...credentials }
}

/** A request that a client passes to its HTTP handler. */
interface SdkRequest {
  readonly method: string
  readonly protocol: string
  readonly hostname: string
  readonly port?: number | undefined
  readonly path: string
  readonly query?: Readonly<Record<string, string | readonly string[] | null>> | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array | undefined
}

/** Option of a call that carries its HTTP call, expected members and secrets. */
const CALL = 'carillonCall'
const EXPECTED = 'carillonExpected'
const SECRETS = 'carillonSecrets'

/** Sends the signed requests of a client through our own HTTP client. */
const requestHandler: Readonly<Record<string, unknown>> = {
  metadata: { handlerProtocol: 'http/1.1' },
  destroy() {},
  updateHttpClientConfig() {},
  httpHandlerConfigs: () => ({}),
  async handle(request: SdkRequest, options: Readonly<Record<string, unknown>>) {
    const expected = options[EXPECTED] as readonly string[]
    const body = bytesOf(request.body)
    const lost = expected.find((name) => !body.includes(`"${name}":`))
    if (lost !== undefined) throw new OldSdkError(lost)
    const secrets = options[SECRETS] as string[]
    secrets.push(...secretsIn(request.headers))
    const result = await (options[CALL] as CapturedCall).request({
      method: request.method,
      url: urlOf(request),
      headers: ownHeaders(request.headers),
      body,
    })
    if (result.kind === 'failed') throw new Error(result.message)
    const { status, headers, body: text } = result
    return { response: { statusCode: status, headers, body: Readable.from([Buffer.from(text, 'utf8')]) } }
  },
}

/** The outcome of a call that sent no request: the package or the credentials are missing. */
function withoutRequest(error: unknown): Outcome {
  const { name, message } = error instanceof Error ? error : new Error(String(error))
  const outcome = { kind: 'rejected', scope: 'account', message } as const
  if (isNotifierError(error)) return { ...outcome, code: error.code }
  if (error instanceof OldSdkError) return { ...outcome, code: 'missing_peer', providerCode: name }
  // Before its request, a client only resolves credentials.
  return { ...outcome, code: 'provider_auth_failed', providerCode: name }
}

/** The installed SDK does not know a member that the message needs. */
class OldSdkError extends Error {
  override readonly name = 'OldSdkError'
  constructor(member: string) {
    super(`The installed AWS SDK does not send "${member}". Run: npm install @aws-sdk/client-sesv2@latest`)
  }
}

function bytesOf(body: string | Uint8Array = ''): Buffer {
  return typeof body === 'string'
    ? Buffer.from(body, 'utf8')
    : Buffer.from(body.buffer, body.byteOffset, body.byteLength)
}

function urlOf({ protocol, hostname, port, path, query = {} }: SdkRequest): string {
  const url = new URL(`${protocol}//${hostname}${port === undefined ? '' : `:${port}`}${path}`)
  for (const [name, value] of Object.entries(query)) {
    for (const one of [value ?? ''].flat()) url.searchParams.append(name, one)
  }
  return url.href
}

/**
 * Credentials in a request. If a function or the SDK provides them, only the headers reveal them, and a refused
 * signature quotes the signed headers.
 */
function secretsIn(headers: Readonly<Record<string, string>>): readonly string[] {
  return Object.entries(headers).flatMap(([name, value]) => {
    if (/^x-amz-security-token$/i.test(name)) return [value]
    return /^authorization$/i.test(name) ? (/Signature=(\w+)/.exec(value)?.slice(1) ?? []) : []
  })
}

/** Framing headers are added with the request and match the signed ones. */
function ownHeaders(headers: Readonly<Record<string, string>>): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(headers).filter(([name]) => !/^(?:host|content-length|connection|expect)$/i.test(name)),
  )
}
