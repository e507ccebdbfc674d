import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { answering, type FaultWorld, faultWorld } from '../../support/faults/world.ts'
import { runProgram } from '../../support/program.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import type { RaceOptions } from '../programs/race.ts'

const directory = temporaryDirectory()
const PROCESSES = 4
const MONTHLY = 70
let world: FaultWorld
beforeAll(async () => {
  world = await faultWorld({ sqlite: join(directory, 'races.db') })
})
afterAll(() => world?.close())

let races = 0

/** Runs the same in several processes at once, and says what all of them said. */
async function race(make: (process: number) => RaceOptions['race'], begin = () => {}): Promise<string[]> {
  races += 1
  const gate = join(directory, `gate-${races}`)
  const programs = Array.from({ length: PROCESSES }, (_, index) =>
    runProgram('race', {
      location: world.location,
      port: world.port,
      gate,
      race: make(index),
      monthly: MONTHLY,
    } satisfies RaceOptions),
  )
  for (const program of programs) await program.said('ready')
  begin()
  writeFileSync(gate, '')
  for (const program of programs) expect(await program.ended, program.errors.join('\n')).toBe(0)
  return programs.flatMap(({ lines }) => lines.filter((line) => line !== 'ready' && line !== 'done'))
}

const of = (lines: readonly string[], outcome: string): string[] =>
  lines.filter((line) => line.startsWith(`${outcome} `)).map((line) => line.slice(outcome.length + 1))

it('500 sends with 25 keys from four processes store 25, and all the others replay them', async () => {
  const organizationId = 'org_default'
  const lines = await race(() => ({ do: 'send', organizationId, count: 125, keys: 25 }))
  expect(of(lines, 'refused')).toEqual([])
  const accepted = of(lines, 'accepted')
  expect(accepted.length).toBe(25)
  expect(new Set(accepted).size).toBe(25)
  const replayed = of(lines, 'replayed')
  expect(replayed.length).toBe(475)
  expect(new Set(replayed)).toEqual(new Set(accepted))
})

it('500 sends from four processes never pass a quota, and none of it is left unused', async () => {
  const { id: organizationId } = await world.api.organizations.create({ name: 'Race' })
  const lines = await race(() => ({ do: 'send', organizationId, count: 125, keys: 0 }))
  expect(of(lines, 'accepted').length).toBe(MONTHLY)
  expect(new Set(of(lines, 'refused'))).toEqual(new Set(['notification_quota_exceeded']))
})

it('one that is cancelled is not handed over, and one that is handed over is not cancelled', async () => {
  await world.recover()
  const before = world.hits.length
  const message = { channel: 'email', to: 'ada@example.com', body: 'x' } as const
  const { items } = await world.api.sendBatch(Array.from({ length: 200 }, () => message))
  const ids = items.map((item) => ('id' in item ? item.id : ''))
  // The first ones are with the provider when the race begins, and come back while it goes on.
  let begin = (): void => {}
  const begun = new Promise<void>((resolve) => {
    begin = resolve
  })
  answering(world, {
    onHit: ({ key, attempt }, response) =>
      void begun.then(() => setTimeout(() => response.writeHead(200).end(`${key}.${attempt}`), 20)),
  })
  const worker = world.work({ leaseMs: 20_000 })
  await eventually(() => world.hits.length >= before + 10)
  // From both sides at once: from the one that is delivered last, too.
  const lines = await race(
    (process) => ({ do: 'cancel', ids: process % 2 === 0 ? ids.toReversed() : ids }),
    begin,
  )
  await world.recover()
  worker.kill('SIGTERM')
  await worker.ended
  const cancelled = of(lines, 'cancelled')
  expect(new Set(cancelled).size).toBe(cancelled.length)
  const handedOver = world.hits.slice(before).map(({ key }) => key)
  expect(new Set(handedOver).size).toBe(handedOver.length)
  expect([...cancelled, ...handedOver].sort()).toEqual(ids.toSorted())
  expect(cancelled.length).toBeGreaterThan(0)
  expect(handedOver.length).toBeGreaterThanOrEqual(10)
  for (const id of cancelled) expect((await world.api.notifications.get(id)).status).toBe('cancelled')
})

it('dead letters that four processes retry at once are retried once each', async () => {
  answering(world, { onHit: (_hit, response) => response.writeHead(422).end() })
  const message = { channel: 'email', to: 'ada@example.com', body: 'x' } as const
  await world.api.sendBatch(Array.from({ length: 150 }, () => message))
  await world.recover()
  const lines = await race(() => ({ do: 'retry' }))
  const counts = of(lines, 'retried').map(Number)
  expect(counts.reduce((sum, count) => sum + count, 0)).toBe(150)
})
