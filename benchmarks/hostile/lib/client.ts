import { Agent, type IncomingMessage, request } from 'node:http'

export interface Answer {
  readonly status: number
  /** The code of a refusal. */
  readonly code: string | null
  readonly text: string
  readonly headers: IncomingMessage['headers']
}

export interface Ask {
  readonly method: 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'
  readonly path: string
  readonly body?: object | Buffer
  readonly headers?: Readonly<Record<string, string>>
}

/** The requests of an attacker, counted by their answers. */
export interface HostileClient {
  ask(ask: Ask): Promise<Answer>
  /** Sends requests as fast as they are answered. Stops if `goesOn` says so. */
  flood(asks: (number: number) => Ask, settings: FloodSettings): Promise<void>
  /** Starts to count anew. */
  forget(): void
  /** What was asked, with which answers. */
  summary(): string
  close(): void
}

export interface FloodSettings {
  readonly requests: number
  /** The plan `free` allows five at once. */
  readonly atOnce?: number
  isOver(): boolean
}

export function createClient(port: number, key: string): HostileClient {
  const agent = new Agent({ keepAlive: true })
  let counts = new Map<string, number>()
  let sent = 0
  let received = 0

  function ask(asked: Ask): Promise<Answer> {
    const { method, path, body, headers = {} } = asked
    const bytes = body === undefined || Buffer.isBuffer(body) ? body : Buffer.from(JSON.stringify(body))
    const own =
      bytes === undefined ? {} : { 'content-type': 'application/json', 'content-length': bytes.length }
    return new Promise((resolve, reject) => {
      const req = request(
        {
          ...{ host: '127.0.0.1', port, method, path, agent },
          headers: {
            ...(headers.cookie === undefined && { authorization: `Bearer ${key}` }),
            ...own,
            ...headers,
          },
        },
        (response) => {
          const chunks: Buffer[] = []
          response.on('data', (chunk: Buffer) => chunks.push(chunk))
          response.on('error', reject)
          response.on('end', () => {
            const text = Buffer.concat(chunks).toString()
            const status = response.statusCode ?? 0
            const code = status < 400 ? null : codeIn(text)
            const what = code === null ? String(status) : `${status} ${code}`
            counts.set(what, (counts.get(what) ?? 0) + 1)
            sent += bytes?.length ?? 0
            received += text.length
            resolve({ status, code, text, headers: response.headers })
          })
        },
      )
      // A stalled server closes connections that it takes for idle.
      req.on('error', (error) => (req.reusedSocket ? resolve(ask(asked)) : reject(error)))
      req.end(bytes)
    })
  }

  return {
    ask,
    async flood(asks, { requests, atOnce = 5, isOver }) {
      let number = 0
      const one = async (): Promise<void> => {
        while (number < requests && !isOver()) {
          const asked = asks(number)
          number += 1
          await ask(asked)
        }
      }
      await Promise.all(Array.from({ length: atOnce }, one))
    },
    forget() {
      counts = new Map()
      sent = 0
      received = 0
    },
    summary() {
      const answers = [...counts].map(([what, count]) => `${count} × ${what}`).join(', ')
      return `${answers || 'none answered'}; ${size(sent)} sent, ${size(received)} received`
    },
    close: () => agent.destroy(),
  }
}

function size(bytes: number): string {
  return bytes < 1e5 ? `${bytes} bytes` : `${(bytes / 1e6).toFixed(1)} MB`
}

function codeIn(text: string): string {
  return /"code":"(\w+)"/.exec(text)?.[1] ?? 'no code'
}

/**
 * The largest size that a server lets through, within a tenth.
 *
 * @param asks with a size; should leave nothing behind
 */
export async function largest(
  most: number,
  asks: (size: number) => Promise<Answer>,
): Promise<{ readonly size: number; readonly refused: Answer | null }> {
  let refused: Answer | null = null
  let above = most
  let size = most
  for (;;) {
    const answer = await asks(size)
    if (answer.status < 400) break
    refused = answer
    above = size
    size = Math.floor(size / 2)
    if (size < 1) throw new Error(`Refused in any size: ${answer.text.slice(0, 300)}`)
  }
  while (above - size > size / 10) {
    const middle = Math.floor((above + size) / 2)
    const answer = await asks(middle)
    if (answer.status < 400) size = middle
    else above = middle
  }
  return { size, refused }
}
