import { Agent, createServer, type IncomingMessage, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as delay } from 'node:timers/promises'

// Asks at fixed times, not after each answer: a stalled server must not slow down its own measurement.

/** What the victim does, and what its time is. */
export type VictimWork =
  /** Sends a mail, until the answer. */
  | 'send'
  /** Reads its own key, until the answer. */
  | 'read'
  /** Sends to a fast receiver, until that has the message. */
  | 'delivery'
  /** Uploads a file in two halves, until the answer. */
  | 'upload'

export interface VictimSettings {
  readonly port: number
  readonly key: string
  readonly work: VictimWork
}

export type VictimCommand =
  | { readonly do: 'begin'; readonly settings: VictimSettings }
  | { readonly do: 'end' }

export interface Measured {
  /** Of each request. One that failed counts as the longest wait. */
  readonly ms: readonly number[]
  /** Requests with another answer than 2xx, or none in time. */
  readonly failed: number
}

const EVERY_MS: Readonly<Record<VictimWork, number>> = { send: 25, read: 25, delivery: 50, upload: 250 }
const HALF = Buffer.alloc(256 * 1024, 'x')
const HALF_AFTER_MS = 3_000
/** The longest wait for an answer. */
const PATIENCE_MS = 20_000

const agent = new Agent({ keepAlive: true, maxSockets: 500 })
const arrivals = new Map<string, () => void>()
let ended = false
let measuring: Promise<Measured> | undefined

process.on('message', async ({ id, command }: { id: number; command: VictimCommand }) => {
  if (command.do === 'begin') {
    ended = false
    measuring = measure(command.settings)
    process.send?.({ id, answer: true })
  } else {
    ended = true
    process.send?.({ id, answer: await measuring })
  }
})
process.on('disconnect', () => process.exit())

const receiver = createServer((req, res) => {
  arrivals.get(req.url ?? '')?.()
  req.resume()
  res.writeHead(200).end()
}).listen(0, '127.0.0.1')

async function measure({ port, key, work }: VictimSettings): Promise<Measured> {
  const ms: number[] = []
  let failed = 0
  const pending = new Set<Promise<void>>()
  const one = async (number: number, due: number): Promise<void> => {
    const late = AbortSignal.timeout(PATIENCE_MS)
    const done = await run(work, { port, key, number, late }).catch(() => false)
    if (!done) failed += 1
    ms.push(done ? performance.now() - due : PATIENCE_MS)
  }
  const began = performance.now()
  for (let number = 0; !ended; number += 1) {
    const due = began + number * EVERY_MS[work]
    await delay(Math.max(0, due - performance.now()))
    const asked = one(number, due).finally(() => pending.delete(asked))
    pending.add(asked)
  }
  await Promise.all(pending)
  return { ms, failed }
}

interface Ask {
  readonly port: number
  readonly key: string
  readonly number: number
  readonly late: AbortSignal
}

/** False: it was refused. */
async function run(work: VictimWork, ask: Ask): Promise<boolean> {
  if (work === 'read') return post(ask, 'GET', '/v1/me', [])
  if (work === 'upload') return post(ask, 'POST', `/v1/attachments?filename=${ask.number}.bin`, [HALF, HALF])
  if (work === 'send') return post(ask, 'POST', '/v1/notify', [json({ ...MAIL, to: 'ada@example.com' })])
  const path = `/${ask.number}`
  const { port } = receiver.address() as AddressInfo
  const arrived = new Promise<boolean>((resolve) => {
    arrivals.set(path, () => resolve(true))
    ask.late.addEventListener('abort', () => resolve(false))
  })
  const message = { channel: 'webhook', to: `http://127.0.0.1:${port}${path}`, body: 'Your parcel' }
  const accepted = await post(ask, 'POST', '/v1/notify', [json(message)])
  return accepted && arrived
}

const MAIL = {
  channel: 'email',
  subject: 'Your parcel',
  body: 'Your parcel should reach you within two days.',
}

function json(value: object): Buffer {
  return Buffer.from(JSON.stringify(value))
}

async function post(ask: Ask, method: string, path: string, parts: readonly Buffer[]): Promise<boolean> {
  const { port, key, late } = ask
  const headers = {
    authorization: `Bearer ${key}`,
    'content-type': parts.length > 1 ? 'application/octet-stream' : 'application/json',
    'content-length': parts.reduce((sum, part) => sum + part.length, 0),
  }
  const req = request({ port, host: '127.0.0.1', method, path, headers, agent, signal: late })
  const answer = new Promise<IncomingMessage>((resolve, reject) => {
    req.once('response', resolve).once('error', reject)
  })
  answer.catch(() => {})
  for (const [nth, part] of parts.entries()) {
    if (nth > 0) await delay(HALF_AFTER_MS)
    req.write(part)
  }
  req.end()
  try {
    const response = await answer
    for await (const _ of response);
    return String(response.statusCode).startsWith('2')
  } catch (error) {
    // A stalled server closes connections that it takes for idle.
    if (req.reusedSocket && !late.aborted) return post(ask, method, path, parts)
    throw error
  }
}
