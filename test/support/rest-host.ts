import { Readable } from 'node:stream'
import { collect } from '../../adapters/http/node-body.ts'
import type { Message } from '../../src/core/ports/provider.ts'
import type { BodyLimits, HttpRequest, HttpResponse } from '../../src/core/rest/message.ts'
import { tooLarge } from '../../src/http/json-body.ts'
import type { HttpApiOptions } from '../../src/http/options.ts'
import {
  createNotifier,
  type Grant,
  type Notifier,
  type NotifierOptions,
  type Permission,
  type Provider,
  type Storage,
} from '../../src/index.ts'
import { serve } from '../../src/rest-api.ts'
import type { FakeClock } from '../../src/testing/fake-clock.ts'
import { type Answer, answerOf, type Call } from './http-client.ts'
import { inMemory } from './in-memory.ts'
import { assertDocumented } from './openapi.ts'

export interface HostOptions
  extends Pick<
    Partial<NotifierOptions>,
    | 'plans'
    | 'overuse'
    | 'webhooks'
    | 'logger'
    | 'delivery'
    | 'publicUrl'
    | 'secret'
    | 'categories'
    | 'pages'
    | 'recipients'
    | 'attachments'
    | 'bounds'
  > {
  readonly http?: HttpApiOptions
  readonly storage?: Storage
  /** Default: one that records and accepts. */
  readonly channel?: Provider
  /** Beside e-mail. */
  readonly moreChannels?: NotifierOptions['channels']
  /** Default: the real time, which can be shifted. */
  readonly clock?: FakeClock
}

/** A started notifier with its REST API. */
export interface Host {
  readonly notifier: Notifier
  readonly storage: Storage
  /** What the provider was handed. */
  readonly sent: Message[]
  readonly clock: { now(): number; advance(ms: number): unknown }
  /** Sends a request to the REST API. An answer that the OpenAPI document does not describe is a failure. */
  call(options: Call): Promise<Answer>
  /** Headers with a key of the organization. */
  key(
    permission?: Permission,
    organizationId?: string,
    grants?: readonly Grant[],
  ): Promise<{ authorization: string }>
  /** Headers with an operator key. */
  operatorKey(permission?: Permission, grants?: readonly Grant[]): Promise<{ authorization: string }>
  close(): Promise<void>
}

/**
 * The REST API without a framework or a socket, as a client on this machine sees it. A body may be a stream: it arrives
 * with it, and a client whose stream is destroyed has left.
 */
export async function startHost(options: HostOptions = {}): Promise<Host> {
  const world = await startNotifier(options)
  const api = serve(world.notifier, { https: 'allow-loopback', ...options.http })
  return {
    ...world,
    async call(request) {
      const answer = await answerTo(await (api.handle(requestOf(request)) ?? UNKNOWN))
      assertDocumented(request.method ?? 'GET', request.path, answer)
      return answer
    },
    close: () => world.notifier.stop(),
  }
}

/** What every host has, whatever serves its REST API. */
export async function startNotifier(options: HostOptions): Promise<Omit<Host, 'call' | 'close'>> {
  const {
    http: _,
    channel,
    moreChannels,
    clock = shiftedClock(),
    storage = inMemory(clock),
    ...given
  } = options
  const sent: Message[] = []
  const notifier = createNotifier({
    ...given,
    storage,
    clock,
    channels: { email: channel ?? recorder(sent), ...moreChannels },
  })
  await notifier.start()
  return {
    notifier,
    storage,
    sent,
    clock,
    async key(permission = 'Full Access', organizationId = 'org_default', grants = []) {
      const { apiKeys } = notifier.organization(organizationId)
      const { secret } = await apiKeys.create({ name: 'test', permission, grants })
      return { authorization: `Bearer ${secret}` }
    },
    async operatorKey(permission = 'Full Access', grants = []) {
      const { secret } = await notifier.operatorKeys.create({ name: 'test', permission, grants })
      return { authorization: `Bearer ${secret}` }
    },
  }
}

/** What an application answers to a path that is not part of the API. */
const UNKNOWN: HttpResponse = { status: 404, headers: {}, body: 'not part of the API' }

function requestOf({ method = 'GET', path, headers: given = {}, body }: Call): HttpRequest {
  const stream = body instanceof Readable ? body : null
  const raw = typeof body === 'string' || body instanceof Uint8Array
  const bytes = Buffer.from(stream || body === undefined ? '' : raw ? body : JSON.stringify(body))
  const headers: Record<string, string | undefined> = { host: '127.0.0.1' }
  if (body !== undefined && !stream) {
    headers['content-length'] = String(bytes.length)
    if (!raw) headers['content-type'] = 'application/json'
  }
  for (const [name, value] of Object.entries(given)) {
    if (value !== undefined) headers[name.toLowerCase()] = [value].flat().join(', ')
  }
  const [, below = '', query = ''] = /^([^?]*)\??(.*)$/s.exec(path) ?? []
  return {
    method,
    path: below,
    query,
    remoteAddress: '127.0.0.1',
    encrypted: false,
    get aborted() {
      return stream?.destroyed === true && !stream.readableEnded
    },
    get bodyComplete() {
      return stream === null || stream.readableEnded
    },
    native: null,
    parsedBody: undefined,
    header: (name) => headers[name],
    headers: () => headers,
    afterResponse: (callback) => callback(),
    async readBody(limits: BodyLimits) {
      if (stream !== null) return collect(stream, limits, limits.timeoutMs)
      if (bytes.length > limits.bytes) throw tooLarge(limits.bytes)
      return bytes
    },
  }
}

async function answerTo({ status, headers, body }: HttpResponse): Promise<Answer> {
  const named = Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value])
  return answerOf(status, Object.fromEntries(named), await textOf(body))
}

async function textOf(body: HttpResponse['body']): Promise<string> {
  if (body === null || typeof body === 'string' || body instanceof Uint8Array) return String(body ?? '')
  let text = ''
  for await (const chunk of body) text += Buffer.from(chunk).toString()
  return text
}

function recorder(sent: Message[]): Provider {
  return {
    name: 'recorder',
    async send(message) {
      sent.push(message)
      return { kind: 'accepted', providerMessageId: `m${sent.length}` }
    },
  }
}

/** The real time and a shift: what expires can be waited for without waiting. */
function shiftedClock() {
  let shift = 0
  return {
    now: () => Date.now() + shift,
    monotonic: () => performance.now() + shift,
    timer(delayMs: number, callback: () => void) {
      const timer = setTimeout(callback, delayMs)
      timer.unref()
      return () => clearTimeout(timer)
    },
    advance(ms: number) {
      shift += ms
    },
  }
}
