import { randomUUID } from 'node:crypto'
import { Agent, request } from 'node:http'

/** Answers that callers of the API received. */
export interface Seen {
  /** Ids of notifications that were answered with 201. */
  readonly accepted: Set<string>
  /** Connections that broke before an answer. */
  resets: number
  /** 503 answers: a server was down. */
  unavailable: number
  /** Any other result. Must stay empty. */
  readonly unexpected: string[]
}

export interface Load {
  readonly seen: Seen
  /** Resolves when all pending requests have their answers. */
  answered(): Promise<void>
  /** Stops new requests. Resolves when all pending ones have their answers. */
  end(): Promise<void>
}

interface Answer {
  readonly status: number
  readonly retryAfterMs: number
  readonly text: string
}

const BATCH = 20
const MOST_UNDER_WAY = 200
const PAUSE_MS = 100

/** Simulates callers: a fixed number of new requests per second, each repeated under its key until it is answered. */
export function startLoad(port: number, key: string, rate: number): Load {
  const agent = new Agent({ keepAlive: true, maxSockets: 32 })
  const seen: Seen = { accepted: new Set(), resets: 0, unavailable: 0, unexpected: [] }
  const underWay = new Set<Promise<void>>()
  const run = randomUUID()
  const began = performance.now()
  let count = 0

  /** Returns the delay before the next attempt. Null: answered. */
  async function attempt(call: Call): Promise<number | null> {
    const answer = await post(agent, call)
    if (answer === null) {
      seen.resets += 1
      return PAUSE_MS
    }
    if (answer.status === 503) {
      seen.unavailable += 1
      return answer.retryAfterMs
    }
    const { id, items = [{ id }] } = JSON.parse(answer.text) as { id?: string; items?: { id?: string }[] }
    for (const item of items) if (item.id !== undefined) seen.accepted.add(item.id)
    if (answer.status !== 201 || items.some((item) => item.id === undefined)) {
      seen.unexpected.push(`${answer.status} ${answer.text}`)
    }
    return null
  }

  async function send(number: number): Promise<void> {
    const to = `user-${number}@example.com`
    const message = { channel: 'email', to, subject: 'Hello', body: `Number ${number}` }
    const batch = number % BATCH === 0
    const call = {
      port,
      path: batch ? '/v1/notifications/batch' : '/v1/notify',
      key,
      // The same in every attempt, so that a caller whose answer was lost gets it now.
      idempotencyKey: `${run}-${number}`,
      body: JSON.stringify(batch ? { notifications: Array(BATCH).fill(message) } : message),
    }
    for (;;) {
      const pauseMs = await attempt(call)
      if (pauseMs === null) return
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }

  const timer = setInterval(() => {
    const due = ((performance.now() - began) / 1_000) * rate
    for (; count < due; count += 1) {
      // A production system would refuse callers here.
      if (underWay.size >= MOST_UNDER_WAY) continue
      const sending = send(count).finally(() => underWay.delete(sending))
      underWay.add(sending)
    }
  }, 20)

  return {
    seen,
    async answered() {
      await Promise.all(underWay)
    },
    async end() {
      clearInterval(timer)
      await Promise.all(underWay)
      agent.destroy()
    },
  }
}

interface Call {
  readonly port: number
  readonly path: string
  readonly key: string
  readonly idempotencyKey: string
  readonly body: string
}

/** Null: the connection broke before the answer. */
function post(agent: Agent, { port, path, key, idempotencyKey, body }: Call): Promise<Answer | null> {
  const headers = {
    Authorization: `Bearer ${key}`,
    'Content-Type': 'application/json',
    'Idempotency-Key': idempotencyKey,
  }
  return new Promise((resolve) => {
    const asked = request({ host: '127.0.0.1', port, path, method: 'POST', agent, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          retryAfterMs: 1_000 * Number(response.headers['retry-after'] ?? 1),
          text,
        }),
      )
      response.on('error', () => resolve(null))
    })
    // Longer than any expected answer, so that no request hangs.
    asked.setTimeout(20_000, () => asked.destroy())
    asked.on('error', () => resolve(null))
    asked.end(body)
  })
}
