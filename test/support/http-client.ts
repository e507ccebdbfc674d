import { request as httpRequest, type IncomingHttpHeaders, type OutgoingHttpHeaders } from 'node:http'
import { connect } from 'node:net'
import { assertDocumented } from './openapi.ts'

export interface Answer {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The body as JSON; undefined when it is none. */
  readonly json: Record<string, unknown> | undefined
}

export interface Call {
  method?: string
  path: string
  headers?: OutgoingHttpHeaders
  /** Sent as it is when it is text or bytes, else as JSON with its content type. */
  body?: unknown
}

/**
 * One request over a socket of its own. Nothing is normalized: `path` goes out as it is written. An answer of Carillon
 * that the OpenAPI document does not describe is a failure.
 */
export async function call(port: number, options: Call): Promise<Answer> {
  const answer = await exchangeOne(port, options)
  assertDocumented(options.method ?? 'GET', options.path, answer)
  return answer
}

function exchangeOne(port: number, { method = 'GET', path, headers = {}, body }: Call): Promise<Answer> {
  const raw = body === undefined || typeof body === 'string' || body instanceof Uint8Array
  const payload = raw ? body : JSON.stringify(body)
  return new Promise((resolve, reject) => {
    const request = httpRequest(
      {
        port,
        method,
        path,
        agent: false,
        host: '127.0.0.1',
        headers: { ...(raw ? {} : { 'content-type': 'application/json' }), ...headers },
      },
      (response) => {
        let text = ''
        response.setEncoding('utf8')
        response.on('data', (chunk) => {
          text += chunk
        })
        response.on('end', () => resolve(answerOf(response.statusCode ?? 0, response.headers, text)))
        response.on('error', reject)
      },
    )
    request.on('error', reject)
    request.end(payload)
  })
}

/** Writes bytes to a socket and gives everything that comes back until the other side closes. */
export function exchange(port: number, bytes: string | Uint8Array, timeoutMs = 5000): Promise<string> {
  return new Promise((resolve, reject) => {
    let text = ''
    const socket = connect(port, '127.0.0.1', () => socket.write(bytes))
    socket.setEncoding('utf8')
    socket.setTimeout(timeoutMs, () => {
      socket.destroy()
      reject(new Error(`no end within ${timeoutMs} ms after: ${text}`))
    })
    socket.on('data', (chunk) => {
      text += chunk
    })
    // A server that refuses garbage may reset the connection after its answer.
    socket.on('error', () => {})
    socket.on('close', () => resolve(text))
  })
}

export function answerOf(status: number, headers: IncomingHttpHeaders, text: string): Answer {
  return { status, headers, text, json: parse(text) }
}

function parse(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

/** The code in an error body of either form. */
export function codeOf({ json }: Answer): unknown {
  return (json?.error as { code?: unknown } | undefined)?.code ?? json?.code
}
