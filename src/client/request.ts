import { CarillonError } from './error.ts'

export interface ClientOptions {
  /** Where the REST API is mounted, such as `https://example.com/notifications`. */
  readonly url: string | URL
  /** An API key, or an operator key. */
  readonly apiKey: string
  /** Longest time of a call with all its retries, in milliseconds. Default 30 000. */
  readonly timeoutMs?: number | undefined
  /**
   * How often a request is repeated, where that is safe, after a network fault, 408, 429 and 5xx. It waits as `Retry-After`
   * says, and not beyond `timeoutMs`. Default 2.
   */
  readonly retries?: number | undefined
  /** Sends requests. Default: the global `fetch`. */
  readonly fetch?: typeof globalThis.fetch | undefined
}

export interface CallOptions {
  /** Ends the call with the signal's reason. */
  readonly signal?: AbortSignal | undefined
  /**
   * Longest time of the call with all its retries, in milliseconds; of a list, of each page; of an export, until its first line
   * and between two. Default: that of the client.
   */
  readonly timeoutMs?: number | undefined
}

export interface Outgoing {
  readonly method: string
  /** With its query. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: NonNullable<RequestInit['body']> | undefined
  /** True: repeated requests do what one does. */
  readonly repeatable: boolean
  /** True: the answer has lines of JSON. */
  readonly isLines: boolean
}

export interface Answer {
  readonly body: object
  readonly headers: Headers
}

export type Send = (outgoing: Outgoing, options: CallOptions | undefined) => Promise<Answer>

/** Longer timers fire at once. */
const LONGEST_MS = 2 ** 31 - 1

/** @throws CarillonError `invalid_configuration` */
export function sender(options: ClientOptions): Send {
  const { apiKey, retries = 2, timeoutMs: usual = 30_000, fetch: own } = options
  const base = baseUrl(options.url)
  // Fetch would show another one in its error.
  if (typeof apiKey !== 'string' || !/^[\x21-\x7e]+$/.test(apiKey)) {
    throw wrong('apiKey', 'must be the key: visible ASCII characters without spaces or line breaks')
  }

  /** Without the query, which may name people. */
  const nameOf = ({ method, path }: Outgoing): string => `${method} ${base}${path.replace(/\?.*/s, '')}`

  async function attempt(outgoing: Outgoing, limit: Limit): Promise<Answer | CarillonError> {
    const { method, path, body, isLines } = outgoing
    const headers = new Headers({ accept: 'application/json', authorization: `Bearer ${apiKey}` })
    for (const [name, value] of Object.entries(outgoing.headers)) headers.set(name, value)
    try {
      const response = await (own ?? fetch)(base + path, {
        method,
        headers,
        body: body ?? null,
        signal: limit.signal,
        // A browser's `follow` makes a GET of a POST.
        redirect: 'manual',
      })
      if (isLines && response.ok && response.body !== null)
        return { body: linesOf(response.body, limit, nameOf(outgoing)), headers: response.headers }
      return answerOf(response, await response.text(), nameOf(outgoing), base)
    } catch (cause) {
      limit.signal.throwIfAborted()
      return unreachable(nameOf(outgoing), cause)
    }
  }

  return async (outgoing, { signal: given, timeoutMs = usual } = {}) => {
    given?.throwIfAborted()
    let cause: unknown
    const limit = limited(given, timeoutMs, () => {
      const message = `${nameOf(outgoing)} took more than ${timeoutMs} ms.`
      return new CarillonError('timeout', { message, cause })
    })
    const end = performance.now() + timeoutMs
    limit.begin()
    try {
      for (let repeated = 0; ; repeated += 1) {
        const answer = await attempt(outgoing, limit)
        if (!(answer instanceof CarillonError)) {
          if (outgoing.isLines) limit.pause()
          else limit.end()
          return answer
        }
        cause = answer
        // Clients that are told to wait should not all return together.
        const waitMs = (answer.retryAfterMs ?? 0) + Math.random() * 500 * 2 ** repeated
        const isLate = performance.now() + waitMs > end
        if (repeated >= retries || isLate || !mayRepeat(answer, outgoing)) throw answer
        await pause(waitMs, limit.signal)
      }
    } catch (error) {
      limit.end()
      throw error
    }
  }
}

/** Aborts after a time, or with a signal. */
interface Limit {
  readonly signal: AbortSignal
  /** Begins its time. */
  begin(): void
  pause(): void
  /** Lets go of the given signal, too. */
  end(): void
}

function limited(given: AbortSignal | undefined, ms: number, late: () => CarillonError): Limit {
  const ended = new AbortController()
  let timer: ReturnType<typeof setTimeout> | undefined
  const abort = (): void => ended.abort(given?.reason)
  given?.addEventListener('abort', abort)
  return {
    signal: ended.signal,
    begin() {
      timer = setTimeout(() => ended.abort(late()), Math.min(ms, LONGEST_MS))
    },
    pause: () => clearTimeout(timer),
    end() {
      clearTimeout(timer)
      given?.removeEventListener('abort', abort)
    },
  }
}

async function* linesOf(
  stream: ReadableStream<Uint8Array<ArrayBuffer>>,
  limit: Limit,
  what: string,
): AsyncGenerator<unknown, void> {
  const reader = stream.getReader()
  const decoder = new TextDecoder()
  let rest = ''
  try {
    for (;;) {
      limit.begin()
      const { done, value } = await reader.read()
      limit.pause()
      if (done) break
      const lines = (rest + decoder.decode(value, { stream: true })).split('\n')
      rest = lines.pop() ?? ''
      for (const line of lines) yield JSON.parse(line)
    }
    if (rest !== '') throw new Error('its last line is cut')
  } catch (cause) {
    limit.signal.throwIfAborted()
    throw unreachable(what, cause)
  } finally {
    limit.end()
    // Rejects if it has failed.
    await reader.cancel().catch(() => {})
  }
}

function unreachable(what: string, cause: unknown): CarillonError {
  // Node says in the cause why, and of a name with several addresses only by its code.
  const { message, cause: inner } = cause as { message: string; cause?: { message?: string; code?: string } }
  const why = inner?.message || inner?.code || message
  return new CarillonError('unreachable', { message: `${what} got no whole answer: ${why}.`, cause })
}

/** Without a slash at its end. */
function baseUrl(given: string | URL): string {
  const problem = 'must be where the REST API is mounted, such as "https://example.com/notifications"'
  let url: URL
  try {
    url = new URL(given)
  } catch {
    throw wrong('url', problem)
  }
  const { protocol, username, password, search, hash, origin, pathname } = url
  if (!/^https?:$/.test(protocol)) throw wrong('url', problem)
  if (username || password || search || hash)
    throw wrong('url', 'must have no user, password, query or fragment')
  return origin + pathname.replace(/\/+$/, '')
}

function wrong(option: string, problem: string): CarillonError {
  return new CarillonError('invalid_configuration', {
    message: `The option "${option}" of createClient ${problem}.`,
    details: { field: option },
  })
}

/** What was refused for its rate was not done, so that anything may be repeated. */
function mayRepeat({ code, status = 500 }: CarillonError, { repeatable }: Outgoing): boolean {
  if (status === 429) return true
  return repeatable && (status === 408 || status >= 500 || code === 'idempotency_in_progress')
}

function pause(ms: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, ms)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason)
    })
  })
}

/** An error for anything but a success of Carillon. */
function answerOf(
  { ok, status, headers }: Response,
  text: string,
  what: string,
  base: string,
): Answer | CarillonError {
  const body = parsed(text)
  if (ok && body !== undefined) return { body, headers }
  const known = {
    status,
    requestId: headers.get('x-request-id') ?? undefined,
    retryAfterMs: retryAfter(headers.get('retry-after')),
  }
  // In the format `flat`, the message is the error.
  const { error, code } = (body ?? {}) as { error?: unknown; code?: unknown }
  if (typeof error === 'string' && typeof code === 'string')
    return new CarillonError(code.toLowerCase(), { ...known, message: error })
  const nested = (error ?? {}) as { code?: unknown; message?: string; details?: CarillonError['details'] }
  if (typeof nested.code === 'string')
    return new CarillonError(nested.code, { ...known, message: `${nested.message}`, details: nested.details })
  const to = headers.get('location')
  return new CarillonError('unexpected_answer', {
    ...known,
    message:
      `${what} answered ${status}${to === null ? '' : ` with the location ${to}`}, not as Carillon does. ` +
      `The option "url" must be where its REST API is mounted; it is ${base}.`,
  })
}

function parsed(text: string): Answer['body'] | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Answer['body']) : undefined
  } catch {
    return undefined
  }
}

/** Milliseconds, of seconds or a date. */
function retryAfter(value: string | null): number | undefined {
  if (value === null) return undefined
  const ms = /^\d+$/.test(value) ? Number(value) * 1000 : Date.parse(value) - Date.now()
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}
