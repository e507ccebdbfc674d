import { DatabaseSync } from 'node:sqlite'
import { expect, it, onTestFinished, vi } from 'vitest'
import { custodyWorld } from '../support/custody-world.ts'
import { eventually } from '../support/eventually.ts'
import { describeEachWith } from '../support/left-out.ts'
import { runProgram } from '../support/program.ts'
import { temporaryFile } from '../support/sqlite-harness.ts'
import { STORAGES, whyNoStorage } from '../support/storages.ts'
import { storedText } from '../support/stored-text.ts'
import type { EraseProgram } from './programs/erase.ts'

const ADA = 'ada-mrk@example.com'
const ada = { channel: 'email', to: ADA } as const
const MARKER = /ada-mrk/i
const BATCH = 1_000

const batch = () =>
  Array.from({ length: BATCH }, (_, index) => ({
    ...ada,
    subject: `${index}`,
    body: 'Hello ada-mrk',
    sendAt: new Date(Date.now() + 86_400_000).toISOString(),
  }))

describeEachWith(STORAGES, whyNoStorage, 'an erasure on %s', (_name, locationOf) => {
  it('is finished by another process after a kill', { timeout: 240_000 }, async () => {
    const location = await locationOf()
    const { notifier, erase, exported } = await custodyWorld(location)
    for (let sent = 0; sent < 5; sent += 1) await notifier.sendBatch(batch())
    const program = runProgram('erase', { location, to: ADA } satisfies EraseProgram)
    await program.said('step')
    program.kill('SIGKILL')
    expect(await program.ended).toBe('SIGKILL')
    const [begun] = (await notifier.people.listErasures()).items
    expect(begun).toMatchObject({ status: 'running' })
    expect((await exported(ada)).length).toBeGreaterThan(0)
    expect((await erase(ada)).id).toBe(begun?.id)
    expect(await exported(ada)).toEqual([])
    await notifier.stop()
    expect(MARKER.exec(storedText(location))).toBeNull()
  })

  it('leaves nothing of an import of 20,000 that it races', { timeout: 600_000 }, async () => {
    const location = await locationOf()
    const { notifier, erase, exported } = await custodyWorld(location)
    let imported = 0
    const importing = (async () => {
      for (; imported < 20; imported += 1) await notifier.sendBatch(batch())
    })()
    await eventually(async () => imported > 3)
    const begun = await notifier.people.erase(ada)
    await importing
    const { id, counts } = await erase(ada)
    expect([begun.status, id]).toEqual(['running', begun.id])
    expect(counts.notifications).toBeGreaterThan(15_000)
    expect(await exported(ada)).toEqual([])
    await notifier.stop()
    expect(MARKER.exec(storedText(location))).toBeNull()
  })
})

it('an erasure on SQLite goes on after its disk has refused it', { timeout: 120_000 }, async () => {
  const { file, remove } = temporaryFile()
  onTestFinished(remove)
  const prepared = vi.spyOn(DatabaseSync.prototype, 'prepare')
  let isFirst = true
  const { notifier, erase, exported } = await custodyWorld(
    { sqlite: file },
    {
      wrap: (storage) => ({
        ...storage,
        custody: {
          ...storage.custody,
          async erase(request) {
            const answer = await storage.custody.erase(request)
            if (isFirst) disk().exec('PRAGMA query_only = ON')
            isFirst = false
            return answer
          },
        },
      }),
    },
  )
  const disk = (): DatabaseSync => prepared.mock.contexts[0] as DatabaseSync
  await notifier.sendBatch(batch())
  await expect(notifier.people.erase(ada)).rejects.toMatchObject({ code: 'service_unavailable' })
  const [begun] = (await notifier.people.listErasures()).items
  expect(begun).toMatchObject({ status: 'running' })
  disk().exec('PRAGMA query_only = OFF')
  const { id, counts } = await erase(ada)
  expect(id).toBe(begun?.id)
  // The step whose progress was refused is not counted.
  expect(counts.notifications).toBeGreaterThanOrEqual(BATCH - 100)
  expect(await exported(ada)).toEqual([])
  await notifier.stop()
  expect(MARKER.exec(storedText({ sqlite: file }))).toBeNull()
})
