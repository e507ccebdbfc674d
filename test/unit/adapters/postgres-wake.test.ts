import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import type { Connection } from '../../../adapters/storage/postgres/connection.ts'
import type { PgListener } from '../../../adapters/storage/postgres/peer.ts'
import { createWake } from '../../../adapters/storage/postgres/wake.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('closes a connection that may not listen, as on a standby, before it opens another', async () => {
  let open = 0
  let opened = 0
  let most = 0
  const refused = async (): Promise<PgListener> => {
    open += 1
    opened += 1
    most = Math.max(most, open)
    return {
      connect: async () => {},
      query: async () => {
        throw new Error('cannot execute LISTEN during recovery')
      },
      async end() {
        open -= 1
      },
      on() {},
    }
  }
  const wake = createWake({ schema: 'carillon', rows: async () => [] } as unknown as Connection, refused)
  wake.listen(() => {})
  await vi.advanceTimersByTimeAsync(120_000)
  expect(opened).toBeGreaterThan(3)
  expect(most).toBe(1)
  await wake.stop()
  expect(open).toBe(0)
})

it('tells other processes at once, and then at most once in 25 ms', async () => {
  const told: number[] = []
  const rows = async () => {
    told.push(Date.now() - began)
    return []
  }
  const wake = createWake({ schema: 'carillon', rows } as unknown as Connection, null)
  const began = Date.now()
  for (const ms of [0, 1, 10, 20, 169]) {
    await vi.advanceTimersByTimeAsync(ms)
    wake.notify()
  }
  await vi.advanceTimersByTimeAsync(1_000)
  // What came at 1 and 11 ms shares the second, and what came at 31 ms is the third.
  expect(told).toEqual([0, 25, 50, 200])
  await wake.stop()
})

it('keeps one connection when it stops and listens again before the first is open, or has ended', async () => {
  let open = 0
  const connect = async (): Promise<PgListener> => {
    await new Promise((resolve) => setTimeout(resolve, 50))
    open += 1
    const ends: (() => void)[] = [() => (open -= 1)]
    return {
      connect: async () => {},
      query: async () => {},
      async end() {
        // The server closes its side a moment later.
        for (const ended of ends.splice(0)) setTimeout(ended, 10)
      },
      on(event: string, listener: (never: never) => void) {
        if (event === 'end') ends.push(listener as () => void)
      },
    }
  }
  const wake = createWake({ schema: 'carillon', rows: async () => [] } as unknown as Connection, connect)
  wake.listen(() => {})
  await wake.stop()
  wake.listen(() => {})
  await vi.advanceTimersByTimeAsync(100)
  expect(open).toBe(1)
  await wake.stop()
  wake.listen(() => {})
  await vi.advanceTimersByTimeAsync(10_000)
  expect(open).toBe(1)
  await wake.stop()
  await vi.advanceTimersByTimeAsync(100)
  expect(open).toBe(0)
})
