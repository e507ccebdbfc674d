import { randomUUID } from 'node:crypto'
import type { Connection } from './connection.ts'
import { hashOf } from './hash.ts'
import type { PgListener } from './peer.ts'

/** A notification takes a lock on the whole database at its commit: at most one in so long, whatever is accepted. */
const NOTIFY_EVERY_MS = 25
const FIRST_RETRY_MS = 1_000
const LONGEST_RETRY_MS = 30_000

const NOTIFY = 'SELECT pg_notify($1, $2)::text'

/** Tells other processes that there is work, and hears it from them. Polling finds what is lost on the way. */
export interface Wake {
  /** Something that was committed is due. Cheap to call often. */
  announce(): void
  /** @param failed is told why nothing can be heard, each time that it was tried */
  listen(listener: () => void, failed?: (error: unknown) => void): () => void
  /** Sends what is left to be announced, and hears nothing more. */
  stop(): Promise<void>
}

/** @param connect opens a connection of its own, outside any pool; null: nothing is heard */
export function createWake(connection: Connection, connect: (() => Promise<PgListener>) | null): Wake {
  const channel = `carillon_${hashOf(connection.schema).slice(0, 16)}`
  /** What this process has made due itself it knows. */
  const self = randomUUID()
  const listeners = new Set<{ heard(): void; failed?: ((error: unknown) => void) | undefined }>()
  let timer: NodeJS.Timeout | undefined
  let pending = false
  let sending: Promise<unknown> = Promise.resolve()
  let client: PgListener | undefined
  let retry: NodeJS.Timeout | undefined
  /** Since when it is heard; null: it is not. Another each time, so that what is left from before belongs to nobody. */
  let hearing: symbol | null = null

  function send(): void {
    timer = undefined
    if (!pending) return
    pending = false
    timer = setTimeout(send, NOTIFY_EVERY_MS)
    timer.unref()
    // Lost, it is found by polling.
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
      // What was announced meanwhile nobody heard.
      hear()
    } catch (error) {
      if (since === hearing) for (const { failed } of listeners) failed?.(unheard(error))
      // Also one that connects and is refused to listen, as by a standby: it must not stay open beside the next.
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
    announce() {
      pending = true
      if (timer === undefined) send()
    },
    listen(heard, failed) {
      const listener = { heard, failed }
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
      // What was returned by this stop is another's work.
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
    'PostgreSQL: no connection listens for the work of other processes, which is found by polling meanwhile. It is made by ' +
    '"connectionString", also beside a "pool"; with "listen: false" none is.'
  return new Error(message, { cause })
}
