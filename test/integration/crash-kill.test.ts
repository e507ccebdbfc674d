import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import { sqlite } from '../../adapters/storage/sqlite/index.ts'
import type { Storage } from '../../src/core/ports/storage/storage.ts'
import { eventually } from '../support/eventually.ts'
import { type Program, runProgram } from '../support/program.ts'
import { temporaryDirectory } from '../support/temporary-directory.ts'
import type { DeliverOptions } from './programs/deliver.ts'

const directory = temporaryDirectory()
let databases = 0

function places(): { readonly database: string; readonly handOvers: string } {
  databases += 1
  return { database: join(directory, `${databases}.db`), handOvers: join(directory, `${databases}.log`) }
}

/** Hand-overs by notification: the attempts that the provider has seen. */
function handOvers(file: string): Map<string, number[]> {
  const seen = new Map<string, number[]>()
  const lines = existsSync(file) ? readFileSync(file, 'utf8').split('\n') : []
  for (const line of lines) {
    const [id = '', attempt] = line.split(' ')
    if (id !== '') seen.set(id, [...(seen.get(id) ?? []), Number(attempt)])
  }
  return seen
}

function promised({ lines }: Program): string[] {
  return lines.filter((line) => line.startsWith('accepted ')).map((line) => line.slice('accepted '.length))
}

async function opened<Result>(
  database: string,
  look: (storage: Storage) => Promise<Result>,
): Promise<Result> {
  const storage = sqlite({ file: database })
  await storage.start()
  try {
    return await look(storage)
  } finally {
    await storage.stop()
  }
}

/** Stops a process where it holds no lock: one that was stopped within a commit would keep everybody else waiting. */
async function freeze(program: Program, database: string): Promise<void> {
  const look = new DatabaseSync(database)
  try {
    await eventually(() => {
      program.kill('SIGSTOP')
      try {
        look.exec('BEGIN IMMEDIATE; ROLLBACK')
        return true
      } catch {
        program.kill('SIGCONT')
        return false
      }
    })
  } finally {
    look.close()
  }
}

const PENDING = ['queued', 'scheduled'] as const

/** Waits until nothing is left to deliver. */
function drained(database: string): Promise<unknown> {
  return opened(database, (storage) =>
    eventually(
      async () => {
        for (const status of PENDING) {
          const page = await storage.notifications.list(
            { organizationId: 'org_default', status },
            { limit: 1, offset: 0 },
          )
          if (page.items.length > 0) return false
        }
        return true
      },
      { everyMs: 100 },
    ),
  )
}

const random = (least: number, most: number) => least + Math.floor(Math.random() * (most - least))
const sleep = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

describe('kill -9', () => {
  it('at any moment, many times, loses nothing that was accepted and hides no second hand-over', async () => {
    const where = places()
    // More attempts than there are kills: none is used up by them.
    const options: DeliverOptions = { ...where, senders: 8, leaseMs: 400, timeoutMs: 200, maxAttempts: 100 }
    const accepted: string[] = []
    // A slow machine comes to little between two of them.
    for (let kill = 0; kill < 20 || accepted.length <= 100; kill += 1) {
      const program = runProgram('deliver', options)
      // Every fourth dies while it starts: in its first moments, in a migration, in a recovery.
      if (kill % 4 !== 0) await program.said('started')
      await sleep(random(0, 250))
      program.kill('SIGKILL')
      expect(await program.ended).toBe('SIGKILL')
      accepted.push(...promised(program))
    }
    const last = runProgram('deliver', { ...options, senders: 0 })
    await last.said('started')
    await drained(where.database)
    last.kill('SIGTERM')
    expect(await last.ended, last.errors.join('\n')).toBe(0)

    expect(new Set(accepted).size).toBe(accepted.length)
    const seen = handOvers(where.handOvers)
    await opened(where.database, async (storage) => {
      for (const id of accepted) {
        const notification = await storage.notifications.get(id)
        expect(notification?.status, id).toBe('sent')
        expect(seen.get(id)?.length ?? 0, id).toBeGreaterThanOrEqual(1)
      }
      for (const [id, attempts] of seen) {
        const timeline = await storage.notifications.timeline(id)
        const marked = timeline
          .filter(({ fact }) => fact?.ambiguous === true)
          .map(({ fact }) => fact?.attempt)
        // Every hand-over but the one that was recorded is marked as possible, and none happened twice.
        expect(new Set(attempts).size, id).toBe(attempts.length)
        expect(attempts.length - 1, id).toBeLessThanOrEqual(marked.length)
        const recorded = timeline.filter(({ type }) => type === 'sent').map(({ fact }) => fact?.attempt)
        for (const attempt of attempts) expect([...marked, ...recorded], id).toContain(attempt)
      }
    })
  })
})

describe('a message that ends the process', () => {
  it('fails after its attempts, and its neighbours are delivered', async () => {
    const where = places()
    const quick = { senders: 0, leaseMs: 1_000, timeoutMs: 500, maxConcurrent: 5, maxAttempts: 4 }
    const options: DeliverOptions = { ...where, ...quick }
    const neighbours = Array.from({ length: 30 }, (_, index) => `notif_${String(index).padStart(29, '0')}`)
    const poison = `notif_${'9'.repeat(29)}`
    const ids = [...neighbours.slice(0, 15), poison, ...neighbours.slice(15)]
    await opened(where.database, (storage) =>
      storage.accept([
        {
          organizationId: 'org_default',
          notifications: ids.map((id) => ({
            id,
            channel: 'email',
            to: 'ada@example.com',
            content: { body: id === poison ? 'poison' : 'x' },
            lane: 'email',
            priority: 'normal',
            sendAt: null,
            expiresAt: null,
          })),
        },
      ]),
    )
    let deaths = 0
    for (;;) {
      const program = runProgram('deliver', options)
      const end = await Promise.race([program.ended, drained(where.database).then(() => 'drained')])
      if (end === 'drained') break
      expect(end).toBe(13)
      deaths += 1
      expect(deaths).toBeLessThanOrEqual(4)
    }
    const seen = handOvers(where.handOvers)
    await opened(where.database, async (storage) => {
      expect(await storage.notifications.get(poison)).toMatchObject({
        status: 'failed',
        error: { code: 'delivery_unknown' },
      })
      for (const id of neighbours) {
        expect((await storage.notifications.get(id))?.status, id).toBe('sent')
        // At most the first death takes attempts of neighbours along; from then on the poison runs alone.
        expect(seen.get(id)?.length, id).toBeLessThanOrEqual(2)
      }
    })
    expect(deaths).toBe(4)
    expect(seen.has(poison)).toBe(false)
  })
})

describe('a process that stalls', () => {
  it('past its lease cannot record over its successor', async () => {
    const where = places()
    // It is stopped before it would give up by itself, and its provider answers after that.
    const options: DeliverOptions = { ...where, senders: 0, leaseMs: 5_000, timeoutMs: 2_500 }
    const zombie = runProgram('deliver', { ...options, senders: 1, sends: 1, slowMs: 3_000 })
    const id = (await zombie.said('accepted')).slice('accepted '.length)
    await eventually(() => handOvers(where.handOvers).has(id))
    await freeze(zombie, where.database)
    const successor = runProgram('deliver', options)
    await drained(where.database)
    const before = await opened(where.database, (storage) => storage.notifications.timeline(id))
    zombie.kill('SIGCONT')
    zombie.kill('SIGTERM')
    expect(await zombie.ended).toBe(0)
    successor.kill('SIGTERM')
    expect(await successor.ended).toBe(0)
    const after = await opened(where.database, (storage) => storage.notifications.timeline(id))
    expect(after).toEqual(before)
    expect(after.map(({ type }) => type)).toEqual(['queued', 'attempt_ambiguous', 'sent'])
    expect(handOvers(where.handOvers).get(id)).toEqual([1, 2])
  })
})

describe('SIGTERM', () => {
  it('under load drains what runs, accepts nothing more and exits with 0', async () => {
    const where = places()
    const options: DeliverOptions = { ...where, senders: 8, leaseMs: 10_000, timeoutMs: 5_000, slowMs: 100 }
    const program = runProgram('deliver', options)
    await eventually(() => promised(program).length > 50)
    program.kill('SIGTERM')
    expect(await program.ended, program.errors.join('\n')).toBe(0)
    expect(program.lines).toContain('stopped')
    expect(program.lines.filter((line) => line.startsWith('error'))).toEqual([])
    const seen = handOvers(where.handOvers)
    await opened(where.database, async (storage) => {
      for (const id of promised(program)) {
        const status = (await storage.notifications.get(id))?.status
        expect(status, id).toBe(seen.has(id) ? 'sent' : 'queued')
      }
      const { nextDueInMs } = await storage.claim({ lanes: [], leaseMs: 1_000 })
      // No lease is left: what waits is due now.
      expect(nextDueInMs).toBeNull()
    })
    const next = runProgram('deliver', { ...options, senders: 0 })
    await drained(where.database)
    next.kill('SIGTERM')
    expect(await next.ended).toBe(0)
    for (const attempts of handOvers(where.handOvers).values()) expect(attempts).toEqual([1])
  })
})
