import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import { openStorage } from '../../support/faults/store.ts'
import { answering, type FaultWorld, faultWorld } from '../../support/faults/world.ts'
import { type Answer, call } from '../../support/http-client.ts'
import { type Program, runProgram } from '../../support/program.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'
import { unfinished } from '../../support/unfinished.ts'
import type { ApiOptions } from '../programs/api.ts'

const directory = temporaryDirectory()
let databases = 0

interface Server {
  readonly world: FaultWorld
  readonly program: Program
  post(): Promise<Answer>
}

async function serve(): Promise<Server> {
  databases += 1
  const world = await faultWorld({ sqlite: join(directory, `${databases}.db`) })
  onTestFinished(() => world.close())
  const program = runProgram('api', { location: world.location, port: world.port } satisfies ApiOptions)
  const port = Number((await program.said('listening ')).slice('listening '.length))
  const secret = (await program.said('key ')).slice('key '.length)
  return {
    world,
    program,
    post: () =>
      call(port, {
        method: 'POST',
        path: '/v1/notify',
        body: { channel: 'email', to: 'ada@example.com', body: 'x' },
        headers: { authorization: `Bearer ${secret}` },
      }),
  }
}

it('SIGTERM under load: what was answered with 201 is stored, what was handed over is recorded, exit 0', async () => {
  const { world, program, post } = await serve()
  answering(world, {
    onHit: ({ key, attempt }, response) =>
      void setTimeout(() => response.writeHead(200).end(`${key}.${attempt}`), 50),
  })
  const promised: string[] = []
  const others = new Set<number>()
  let told = false
  async function client(): Promise<void> {
    for (;;) {
      const answer = await post().catch(() => null)
      if (answer?.status === 201) promised.push(String(answer.json?.id))
      else if (answer !== null) others.add(answer.status)
      if (answer === null || told) return
    }
  }
  const clients = Promise.all(Array.from({ length: 10 }, client))
  await eventually(() => promised.length > 60)
  program.kill('SIGTERM')
  told = true
  await clients
  expect(await program.ended, program.errors.join('\n')).toBe(0)
  expect(program.lines.filter((line) => /^(?:error|unhandled)/.test(line))).toEqual([])
  expect(program.lines).toContain('stopped')
  // Refused, if at all, as unavailable.
  for (const status of others) expect(status).toBe(503)

  const seen = new Set(world.hits.map(({ key }) => key))
  for (const id of promised) {
    const { status } = await world.api.notifications.get(id)
    expect(status, id).toBe(seen.has(id) ? 'sent' : 'queued')
  }
  const storage = openStorage(world.location)
  await storage.start()
  const { lanes } = await unfinished(storage)
  await storage.stop()
  for (const { leased } of lanes) expect(leased).toBe(0)
  await world.recover()
  for (const id of promised) expect((await world.api.notifications.get(id)).status).toBe('sent')
  expect(world.hits.length).toBe(new Set(world.hits.map(({ key }) => key)).size)
})

it('SIGTERM while the provider hangs waits for it; a second one aborts, and says what is not known', async () => {
  const { world, program, post } = await serve()
  answering(world, { onHit: () => {} })
  const ids = (await Promise.all([post(), post(), post()])).map(({ json }) => String(json?.id))
  await eventually(() => world.hits.length === 3)
  program.kill('SIGTERM')
  await eventually(async () => (await post().catch(() => null)) === null)
  expect(program.process.exitCode).toBeNull()
  program.kill('SIGTERM')
  expect(await program.ended, program.errors.join('\n')).toBe(0)
  expect(program.lines.filter((line) => /^(?:error|unhandled)/.test(line))).toEqual([])
  for (const id of ids) {
    const { status, timeline } = await world.api.notifications.get(id)
    expect(status).toBe('queued')
    expect(timeline.at(-1)).toMatchObject({ event: 'attempt_ambiguous', ambiguous: true })
  }
  answering(world, {
    onHit: ({ key, attempt }, response) => response.writeHead(200).end(`${key}.${attempt}`),
  })
  await world.recover()
  for (const id of ids) expect((await world.api.notifications.get(id)).status).toBe('sent')
})
