import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { expect, it } from 'vitest'
import type { NewNotification } from '../../../src/core/notification/notification.ts'
import { openStorage, type StorageLocation } from '../../support/faults/store.ts'
import { drained } from '../../support/faults/world.ts'
import { describeEachWith } from '../../support/left-out.ts'
import { sharedPostgres, uniqueSchema, whyNoPostgres } from '../../support/postgres.ts'
import { type Program, runProgram } from '../../support/program.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import type { DeliverOptions } from '../programs/deliver.ts'

const directory = temporaryDirectory()
const long = Number(process.env.CARILLON_SOAK_SECONDS ?? 0) > 0
const NOTIFICATIONS = long ? 10_000 : 1_500
const KILLS = long ? 60 : 10
const WORKERS = 8

const STORAGES: readonly (readonly [name: string, location: () => Promise<StorageLocation>])[] = [
  ['SQLite', async () => ({ sqlite: join(directory, 'workers.db') })],
  // A server beside eight processes is for long runs: two processes on one are in ../postgres-processes.test.ts.
  ...(long
    ? [
        [
          'PostgreSQL',
          async () => ({ postgres: { url: await sharedPostgres(), schema: uniqueSchema() } }),
        ] as const,
      ]
    : []),
]
const missing = (name: string): string | null => (name === 'PostgreSQL' ? whyNoPostgres() : null)

interface HandOver {
  readonly id: string
  readonly attempt: number
  readonly pid: number
}

function handOversIn(file: string): HandOver[] {
  const lines = readFileSync(file, 'utf8').trim().split('\n')
  return lines.map((line) => {
    const [id = '', attempt, pid] = line.split(' ')
    return { id, attempt: Number(attempt), pid: Number(pid) }
  })
}

const note = (index: number): NewNotification => ({
  id: `notif_${String(index).padStart(29, '0')}`,
  channel: 'email',
  to: 'ada@example.com',
  content: { body: 'x' },
  lane: 'email',
  priority: index % 7 === 0 ? 'high' : 'normal',
  sendAt: null,
  expiresAt: null,
})

describeEachWith(STORAGES, missing, 'eight workers over one database on %s', (name, create) => {
  it(
    'killed at random, deliver everything, and twice only what a kill has cut',
    async () => {
      const location = await create()
      const storage = openStorage(location)
      await storage.start()
      const notifications = Array.from({ length: NOTIFICATIONS }, (_, index) => note(index))
      await storage.accept([{ organizationId: 'org_default', notifications }])

      const handOvers = join(directory, `${name}.log`)
      // Long enough that no process which lives loses a lease, however slow the machine is.
      const timing = { leaseMs: 12_000, timeoutMs: 6_000, slowMs: 60, maxConcurrent: 4, senders: 0 }
      const start = (): Program =>
        runProgram('deliver', { location, handOvers, ...timing } satisfies DeliverOptions)
      const first = start()
      await first.said('started')
      const workers = [first, ...Array.from({ length: WORKERS - 1 }, start)]
      // Some may be hit while they start.
      await Promise.all(workers.slice(0, WORKERS / 2).map((worker) => worker.said('started')))

      // The seed decides whom it hits and when; what they are doing then is up to the machine.
      const seed = Number(process.env.CARILLON_SEED ?? Date.now() % 1_000_000)
      const kills = fc.sample(
        fc.record({
          who: fc.nat({ max: WORKERS - 1 }),
          afterMs: fc.integer({ min: 0, max: 200 }),
        }),
        { seed, numRuns: KILLS },
      )
      const killed = new Set<number>()
      for (const { who, afterMs } of kills) {
        await new Promise((resolve) => setTimeout(resolve, afterMs))
        const victim = workers[who]
        if (victim === undefined) continue
        victim.kill('SIGKILL')
        expect(await victim.ended).toBe('SIGKILL')
        killed.add(victim.process.pid ?? 0)
        workers[who] = start()
      }
      await drained(storage, long ? 600_000 : 150_000)
      for (const worker of workers) {
        await worker.said('started')
        worker.kill('SIGTERM')
      }
      for (const worker of workers) expect(await worker.ended, worker.errors.join('\n')).toBe(0)

      const byId = new Map<string, HandOver[]>()
      for (const one of handOversIn(handOvers)) byId.set(one.id, [...(byId.get(one.id) ?? []), one])
      let [twice, cut] = [0, 0]
      for (const { id } of notifications) {
        const seen = byId.get(id) ?? []
        expect(seen.length, `${id} (seed ${seed})`).toBeGreaterThanOrEqual(1)
        const timeline = await storage.notifications.timeline(id)
        const sent = timeline.filter(({ type }) => type === 'sent').map(({ fact }) => fact?.attempt)
        expect(sent, `${id} (seed ${seed})`).toHaveLength(1)
        const marked = timeline
          .filter(({ type }) => type === 'attempt_ambiguous')
          .map(({ fact }) => fact?.attempt)
        expect(timeline.at(-1)?.status).toBe('sent')
        cut += marked.length
        for (const { attempt, pid } of seen) {
          if (sent.includes(attempt)) continue
          twice += 1
          expect(marked, `${id} (seed ${seed})`).toContain(attempt)
          expect(killed, `${id} (seed ${seed})`).toContain(pid)
        }
      }
      expect(byId.size).toBe(NOTIFICATIONS)
      expect(cut, `seed ${seed}`).toBeGreaterThan(0)
      // Of no worker is more cut than it had in hand.
      expect(twice).toBeLessThanOrEqual(KILLS * timing.maxConcurrent)
      await storage.stop()
    },
    long ? 700_000 : 240_000,
  )
})
