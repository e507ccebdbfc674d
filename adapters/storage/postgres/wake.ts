import { randomUUID } from 'node:crypto'
import type { Connection } from './connection.ts'
import { hashOf } from './hash.ts'
import type { PgListener } from './peer.ts'

/** Shortest interval between NOTIFYs: each takes a lock on the whole database at its commit. */
const NOTIFY_EVERY_MS = 25
const FIRST_RETRY_MS = 1_000
const LONGEST_RETRY_MS = 30_000

const NOTIFY = 'SELECT pg_notify($1, $2)::text'

/** Wakes other processes and receives their wake-ups. Polling covers lost ones. */
export interface Wake {
  /** Notifies other processes of committed work. Cheap to call often. */
  notify(): void
  /** @param onError receives the error of each failed attempt to listen */
  listen(listener: () => void, onError?: (error: unknown) => void): () => void
  /** Sends the pending notification and stops listening. */
  stop(): Promise<void>
}

/** @param connect opens a connection outside any pool; null: do not listen */
export function createWake(connection: Connection, connect: (() => Promise<PgListener>) | null): Wake {
  const channel = `carillon_${hashOf(connection.schema).slice(0, 16)}`
  /** Identifies this process, which ignores its own wake-ups. */
  const self = randomUUID()
  const listeners = new Set<{ heard(): void; onError?: ((error: unknown) => void) | undefined }>()
  let timer: NodeJS.Timeout | undefined
  let pending = false
  let sending: Promise<unknown> = Promise.resolve()
  let client: PgListener | undefined
  let retry: NodeJS.Timeout | undefined
  /** Token of the current subscription; null: not listening. A new one each time invalidates pending callbacks. */
  let hearing: symbol | null = null

  function send(): void {
    timer = undefined
    if (!pending) return
    pending = false
    timer = setTimeout(send, NOTIFY_EVERY_MS)
    timer.unref()
    // Polling covers a lost NOTIFY.
    const sent = connection.rows(NOTIFY, [channel, self]).catch(() => {})
    sending = Promise.all([sending, sent]).then(() => {})
  }

  function hear(): void {
    for (const { heard } of listeners) heard()
  }

  async function open(since: symbol, delayMs: number): Promise<void> {
    if (connect === null || since !== hearing) return
    let reopen = (afterMs: number): void => later(since, afterMs)
    try {
      const opened = await connect()
      if (since !== hearing) return void opened.end().catch(() => {})
      client = opened
      let over = false
      reopen = (afterMs) => {
        if (over) return
        over = true
        if (client === opened) client = undefined
        opened.end().catch(() => {})
        later(since, afterMs)
      }
      opened.on('error', () => reopen(FIRST_RETRY_MS))
      opened.on('end', () => reopen(FIRST_RETRY_MS))
      opened.on('notification', ({ payload }) => {
        if (payload !== self) hear()
      })
      await opened.query(`LISTEN ${channel}`)
      // Wake-ups before LISTEN were missed.
      hear()
    } catch (error) {
      if (since === hearing) for (const { onError } of listeners) onError?.(unheard(error))
      // Also closes a connection whose LISTEN was refused, as by a standby.
      reopen(Math.min(2 * delayMs, LONGEST_RETRY_MS))
    }
  }

  function later(since: symbol, delayMs: number): void {
    if (since !== hearing || retry !== undefined) return
    retry = setTimeout(() => {
      retry = undefined
      void open(since, delayMs)
    }, delayMs)
    retry.unref()
  }

  async function close(): Promise<void> {
    hearing = null
    clearTimeout(retry)
    retry = undefined
    const open = client
    client = undefined
    await open?.end().catch(() => {})
  }

  return {
    notify() {
      pending = true
      if (timer === undefined) send()
    },
    listen(heard, onError) {
      const listener = { heard, onError }
      listeners.add(listener)
      if (listeners.size === 1) {
        hearing = Symbol()
        void open(hearing, FIRST_RETRY_MS)
      }
      return () => {
        listeners.delete(listener)
        if (listeners.size === 0) void close()
      }
    },
    async stop() {
      clearTimeout(timer)
      // Jobs that this stop returned are work for other processes.
      send()
      clearTimeout(timer)
      timer = undefined
      listeners.clear()
      await close()
      await sending
    },
  }
}

function unheard(cause: unknown): Error {
  const message =
    'PostgreSQL: the connection that listens for work of other processes is down. Polling finds the work meanwhile. ' +
    'Check "connectionString", which it uses even beside a "pool", or set "listen: false" to do without it.'
  return new Error(message, { cause })
}
