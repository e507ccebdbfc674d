import { copyFileSync } from 'node:fs'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { sqlite } from '../../adapters/storage/sqlite/index.ts'
import type { Storage } from '../../src/core/ports/storage/storage.ts'
import {
  accept,
  claimOne,
  deliver,
  ended,
  endpoint,
  note,
  organization,
  page,
  start,
  timeOf,
} from '../../src/testing/storage/fixtures.ts'
import { temporaryFile } from '../support/sqlite-harness.ts'

type Done = (error: Error | null) => void

/** The system's call stands behind a gate: it is made when a test lets it through. */
const disk = vi.hoisted(() => ({
  closed: false,
  calls: 0,
  error: null as Error | null,
  folderError: null as Error | null,
  open: 0,
  held: [] as (() => void)[],
}))

vi.mock('node:fs', async (original) => {
  const fs = await original<typeof import('node:fs')>()
  return {
    ...fs,
    fdatasync(file: number, done: Done) {
      disk.calls += 1
      const go = (): void => {
        if (disk.error === null) fs.fdatasync(file, done)
        else setImmediate(done, disk.error)
      }
      if (disk.closed) disk.held.push(go)
      else go()
    },
    openSync(...args: Parameters<typeof fs.openSync>) {
      const handle = fs.openSync(...args)
      disk.open += 1
      return handle
    },
    fsyncSync(handle: number) {
      if (disk.folderError !== null) throw disk.folderError
      fs.fsyncSync(handle)
    },
    closeSync(handle: number) {
      fs.closeSync(handle)
      disk.open -= 1
    },
  }
})

const files: ReturnType<typeof temporaryFile>[] = []
let file: string
let storage: Storage

async function open(options: { readonly synchronous?: 'normal' } = {}): Promise<void> {
  storage = sqlite({ file, ...options })
  await storage.start()
  disk.calls = 0
}

beforeEach(() => {
  const temporary = temporaryFile()
  files.push(temporary)
  file = temporary.file
})

afterEach(async () => {
  disk.error = null
  disk.folderError = null
  openGate()
  await storage.stop()
  for (const { remove } of files.splice(0)) remove()
})

function openGate(): void {
  disk.closed = false
  for (const go of disk.held.splice(0)) go()
}

/** Whether an answer comes while the disk does not answer. */
async function answersWithoutDisk(work: () => Promise<unknown>): Promise<boolean> {
  disk.closed = true
  let answered = false
  const answer = work().then(() => {
    answered = true
  })
  for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve))
  const without = answered
  openGate()
  await answer
  return without
}

test('what is promised is answered when the disk has it, leases at once', async () => {
  await open()
  const key = { organizationId: 'org_default', operation: 'send', key: 'one' } as const
  const answers: Record<string, boolean> = {}
  const ask = async (name: string, work: () => Promise<unknown>): Promise<void> => {
    answers[name] = await answersWithoutDisk(work)
  }
  await ask('findIdempotent: nothing', () => storage.findIdempotent([key]))
  const idempotency = { ...key, fingerprint: 'print', result: '{}', ttlMs: 60_000 }
  await ask('accept', () =>
    storage.accept([{ organizationId: 'org_default', notifications: [note()], idempotency }]),
  )
  await ask('findIdempotent: a replay', () => storage.findIdempotent([key]))
  let job = await claimOne(storage)
  await ask('renew', () => storage.renew([job], 1_000))
  await ask('release', () => storage.release([job]))
  await ask('claim', async () => {
    job = await claimOne(storage)
  })
  await ask('startAttempts', () => start(storage, [job]))
  await ask('settle', () => storage.settle([ended(job)]))
  const hook = await endpoint(storage)
  await storage.accept([{ organizationId: 'org_default', notifications: [note()] }])
  await deliver(storage)
  await ask('claim that begins an attempt', async () => {
    const { jobs } = await storage.claim({ lanes: [{ lane: hook.id, free: 1, begin: true }], leaseMs: 1_000 })
    expect(jobs).toMatchObject([{ begun: true, attempts: 0 }])
  })
  await ask('recordReceipts', () => storage.recordReceipts([]))
  await ask('records.write', () => organization(storage))
  await ask('webhookEndpoints.create', () => endpoint(storage))
  expect(answers).toEqual({
    'findIdempotent: nothing': true,
    accept: false,
    'findIdempotent: a replay': false,
    renew: true,
    release: true,
    claim: true,
    startAttempts: false,
    'claim that begins an attempt': false,
    settle: false,
    recordReceipts: false,
    'records.write': false,
    'webhookEndpoints.create': false,
  })
})

test('the log has what was committed when the disk is asked', async () => {
  await open()
  disk.closed = true
  const accepted = accept(storage, [note()])
  await expect.poll(() => disk.held.length).toBe(1)
  const copy = temporaryFile()
  files.push(copy)
  copyFileSync(file, copy.file)
  copyFileSync(`${file}-wal`, `${copy.file}-wal`)
  openGate()
  const [id] = await accepted
  const database = new DatabaseSync(copy.file)
  expect(database.prepare('SELECT id FROM carillon_notifications').get()).toEqual({ id })
  database.close()
})

test('calls of one turn share a wait, and those that come meanwhile the next', async () => {
  await open()
  disk.closed = true
  const first = Array.from({ length: 10 }, () => accept(storage, [note()]))
  await expect.poll(() => disk.held.length).toBe(1)
  const second = Array.from({ length: 10 }, () => accept(storage, [note()]))
  await new Promise((resolve) => setImmediate(resolve))
  expect(disk.calls).toBe(1)
  openGate()
  await Promise.all([...first, ...second])
  expect(disk.calls).toBe(2)
})

test('a disk that failed is believed no more until the file is opened again', async () => {
  await open()
  const cause = Object.assign(new Error('EIO: i/o error, fdatasync'), { code: 'EIO' })
  disk.error = cause
  await expect(accept(storage, [note()])).rejects.toMatchObject({ code: 'service_unavailable', cause })
  disk.error = null
  const refused = { code: 'service_unavailable', cause }
  await expect(accept(storage, [note()])).rejects.toMatchObject(refused)
  // That nothing is accepted shows in the health, too.
  await expect(timeOf(storage)).rejects.toMatchObject(refused)
  await storage.stop()
  await open()
  await accept(storage, [note()])
})

test('after a disk has failed, what is refused is not stored; what was sent is', async () => {
  await open()
  const [id = ''] = await accept(storage, [note()])
  const job = await claimOne(storage)
  await start(storage, [job])
  disk.error = new Error('EIO: i/o error, fdatasync')
  const refused = { code: 'service_unavailable' }
  await expect(organization(storage)).rejects.toMatchObject(refused)
  let joins = 0
  for (let tries = 0; tries < 3; tries += 1) {
    await expect(accept(storage, [note()])).rejects.toMatchObject(refused)
    const joined = await storage.join?.((() => {
      joins += 1
    }) as never)
    const request = { organizationId: 'org_default', notifications: [note()] }
    await expect(joined?.accept(request)).rejects.toMatchObject(refused)
  }
  await expect(storage.settle([ended(job)])).rejects.toMatchObject(refused)
  disk.error = null
  await storage.stop()
  await open()
  expect(joins).toBe(0)
  expect((await storage.notifications.list({ organizationId: 'org_default' }, page())).items).toMatchObject([
    { id, status: 'sent' },
  ])
})

test('attempts that a claim has begun, and that are not on the disk, are not counted', async () => {
  await open()
  const hook = await endpoint(storage)
  await accept(storage, [note()])
  await deliver(storage)
  disk.error = new Error('EIO: i/o error, fdatasync')
  const claiming = storage.claim({ lanes: [{ lane: hook.id, free: 1, begin: true }], leaseMs: 60_000 })
  await expect(claiming).rejects.toMatchObject({ code: 'service_unavailable' })
  disk.error = null
  await storage.stop()
  await open()
  expect(await claimOne(storage, hook.id)).toMatchObject({ attempts: 0, recovered: false })
})

test('stopping waits for the disk', async () => {
  await open()
  disk.closed = true
  const accepted = accept(storage, [note()])
  await expect.poll(() => disk.held.length).toBe(1)
  expect(await answersWithoutDisk(() => storage.stop())).toBe(false)
  await accepted
})

test('stopping in the turn of a commit ends', async () => {
  await open()
  const written = organization(storage, 'org_a')
  await storage.stop()
  expect(await written).toBe('org_a')
})

test('a storage that is started while it stops waits for the disk', async () => {
  await open()
  const written = organization(storage)
  const stopped = storage.stop()
  await storage.start()
  await Promise.all([written, stopped])
  expect(await answersWithoutDisk(() => accept(storage, [note()]))).toBe(false)
})

test('one that is stopped while it starts can be started again', async () => {
  storage = sqlite({ file })
  const starting = storage.start()
  // It has opened the file, and waits for the disk.
  await Promise.resolve()
  await Promise.all([starting, storage.stop()])
  expect(disk.open).toBe(0)
  await storage.start()
  await accept(storage, [note()])
})

test('one that is started twice at once, or stopped at once, leaves nothing open', async () => {
  storage = sqlite({ file })
  await Promise.all([storage.start(), storage.start()])
  await accept(storage, [note()])
  await storage.stop()
  expect(disk.open).toBe(0)
  await Promise.all([storage.start(), storage.stop()])
  expect(disk.open).toBe(0)
})

test('a start that fails after it has opened the log leaves nothing open', async () => {
  storage = sqlite({ file })
  disk.folderError = new Error('EIO: i/o error, fsync')
  await expect(storage.start()).rejects.toMatchObject({ code: 'service_unavailable' })
  expect(disk.open).toBe(0)
})

test('with "normal" nothing waits for the disk', async () => {
  await open({ synchronous: 'normal' })
  await accept(storage, [note()])
  expect(disk.calls).toBe(0)
})
