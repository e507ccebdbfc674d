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
