import {
  type Http2Request,
  type Http2Result,
  type Http2Session,
  type Http2SessionOptions,
  openHttp2Session,
} from './http2-session.ts'

/** Sends requests to one host over one connection, and replaces the connection when it ends. */
export interface Http2Client {
  /** Never rejects. Ends soon after the signal aborts. */
  post(request: Http2Request): Promise<Http2Result>
  /** Connects without a request. Rejects with the reason. */
  connect(): Promise<void>
  close(): Promise<void>
}

/** Connections that one request may lose before it fails: a server may close each one at once. */
const MAX_SESSIONS = 3

export function http2Client(options: Http2SessionOptions): Http2Client {
  const sessions = new Set<Http2Session>()
  let current: Promise<Http2Session> | undefined
  let latest: Http2Session | undefined
  const closing = new AbortController()

  /** Shares one connection between concurrent callers. */
  function session(): Promise<Http2Session> {
    if (latest?.spent === true) {
      latest = undefined
      current = undefined
    }
    current ??= open()
    return current
  }

  async function open(): Promise<Http2Session> {
    try {
      const opened = await openHttp2Session(options, closing.signal)
      latest = opened
      sessions.add(opened)
      void opened.gone.then(() => sessions.delete(opened))
      return opened
    } catch (error) {
      current = undefined
      throw error
    }
  }

  return {
    async post(request) {
      for (let round = 0; round < MAX_SESSIONS; round += 1) {
        if (closing.signal.aborted || request.signal.aborted)
          return notSent('The attempt was aborted before it began.')
        const opened = await orAborted(session(), request.signal)
        if (opened instanceof Error) return notSent(opened.message)
        if (await opened.room(request.signal)) return opened.post(request)
      }
      return notSent('The connection ended before the request was sent.')
    },
    async connect() {
      await session()
    },
    async close() {
      closing.abort()
      await current?.catch(() => null)
      await Promise.all([...sessions].map((one) => one.close()))
    },
  }
}

function notSent(message: string): Http2Result {
  return { kind: 'failed', mayHaveActed: false, message }
}

/** The session, or the reason for its absence. */
function orAborted(opening: Promise<Http2Session>, signal: AbortSignal): Promise<Http2Session | Error> {
  return new Promise((resolve) => {
    const onAbort = (): void => resolve(new Error('The attempt was aborted before it began.'))
    signal.addEventListener('abort', onAbort, { once: true })
    opening
      .then(resolve, (error: unknown) => resolve(error instanceof Error ? error : new Error(String(error))))
      .finally(() => signal.removeEventListener('abort', onAbort))
  })
}
