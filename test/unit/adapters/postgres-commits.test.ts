import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createCommits } from '../../../adapters/storage/postgres/commits.ts'
import type { Connection } from '../../../adapters/storage/postgres/connection.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

it('says nothing of a transaction that begins while a server that another one stands in for is asked', async () => {
  const ended: string[] = []
  let lost = true
  const rows = async (_: string, [ids, , , xids]: readonly (readonly string[])[]) => {
    await new Promise((resolve) => setTimeout(resolve, 100))
    // By entries alone: what is stored.
    if (xids === undefined) return ids?.map(() => ({ stored: true }))
    if (lost) throw Object.assign(new Error('is in the future'), { code: '22023', severity: 'ERROR' })
    return ids?.map((id) => ({ status: ended.includes(id) ? 'committed' : 'in progress', stored: true }))
  }
  const commits = createCommits({ rows } as unknown as Connection)
  const told: [id: string, stored: boolean][] = []
  const watch = (id: string) =>
    void commits.watch('7', { id, change: null }).then((stored) => told.push([id, stored]))

  watch('before')
  await vi.advanceTimersByTimeAsync(150)
  watch('meanwhile')
  lost = false
  await vi.advanceTimersByTimeAsync(1_000)
  expect(told).toEqual([['before', true]])
  ended.push('meanwhile')
  await vi.advanceTimersByTimeAsync(1_000)
  expect(told).toEqual([
    ['before', true],
    ['meanwhile', true],
  ])
  commits.stop()
})
