import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import type { Point } from '../../support/faults/points.ts'
import { answering, type FaultWorld, faultWorld } from '../../support/faults/world.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const directory = temporaryDirectory()
let world: FaultWorld
beforeAll(async () => {
  world = await faultWorld({ sqlite: join(directory, 'zombies.db') })
})
afterAll(() => world?.close())

interface Seen {
  readonly log: readonly string[]
  readonly handOvers: readonly number[]
  readonly posts: number
}

const ONCE: Seen = { log: ['queued', 'sent'], handOvers: [1], posts: 1 }
const TWICE: Seen = { log: ['queued', 'attempt_ambiguous', 'sent'], handOvers: [1, 2], posts: 1 }

/** Where a process is stopped until another one has finished its work, and what of it may be seen. */
const STOPS: readonly (readonly [when: string, point: Point, seen: Seen])[] = [
  ['with a claim begins no attempt', 'after:claim', ONCE],
  ['before it records an attempt makes none', 'before:start', ONCE],
  [
    'after it recorded an attempt does not make it, which is shown as possible',
    'after:start',
    { ...TWICE, handOvers: [2] },
  ],
  ['with an outcome records nothing', 'before:settle', TWICE],
  ['with the outcome of an event records nothing', 'before:settle-event', { ...ONCE, posts: 2 }],
]

it.each(STOPS)('a process that wakes after its lease %s', async (_what, point, seen) => {
  const zombie = world.work({ point, signal: 'SIGSTOP', task: { do: 'send', key: point, body: point } })
  await zombie.said(`at ${point}`)
  // Others find the lease expired.
  await world.recover()
  const idempotencyKey = point
  const message = { channel: 'email', to: 'ada@example.com', body: point } as const
  const { id, replayed } = await world.api.send(message, { idempotencyKey })
  expect(replayed).toBe(true)
  const before = await world.api.notifications.get(id)
  expect(before.timeline.map(({ event }) => event)).toEqual(seen.log)

  zombie.kill('SIGCONT')
  zombie.kill('SIGTERM')
  expect(await zombie.ended, zombie.errors.join('\n')).toBe(0)
  expect(await world.api.notifications.get(id)).toEqual(before)
  const handOvers = world.hits.filter(({ key }) => key === id).map(({ attempt }) => attempt)
  expect(handOvers).toEqual(seen.handOvers)
  const posts = world.posts.filter(({ body }) => body.includes(id))
  expect(new Set(posts.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
  expect(posts.length).toBe(seen.posts)
})

it.each([
  ['before:start', 1],
  ['before:settle', 2],
] as const)(
  'a process that wakes (%s) does not touch what its successor is working on',
  async (point, attempt) => {
    const key = `${point}:busy`
    // What the successor hands over gets no answer until the zombie has had its turn.
    const answers: (() => void)[] = []
    let woken = false
    answering(world, {
      onHit: (hit, response) => {
        const answer = (): void => void response.writeHead(200).end(`${hit.key}.${hit.attempt}`)
        if (hit.attempt < attempt || woken) answer()
        else answers.push(answer)
      },
    })
    const zombie = world.work({ point, signal: 'SIGSTOP', task: { do: 'send', key, body: key } })
    await zombie.said(`at ${point}`)
    const successor = world.work({ leaseMs: 30_000 })
    await eventually(() => answers.length === 1)
    woken = true
    zombie.kill('SIGCONT')
    zombie.kill('SIGTERM')
    expect(await zombie.ended, zombie.errors.join('\n')).toBe(0)
    for (const answer of answers) answer()
    const { id } = await world.api.send(
      { channel: 'email', to: 'ada@example.com', body: key },
      { idempotencyKey: key },
    )
    await world.recover()
    successor.kill('SIGTERM')
    expect(await successor.ended).toBe(0)
    const { timeline } = await world.api.notifications.get(id)
    const ambiguous = Array.from({ length: attempt - 1 }, () => 'attempt_ambiguous')
    expect(timeline.map(({ event }) => event)).toEqual(['queued', ...ambiguous, 'sent'])
    expect(timeline.at(-1)?.attempt).toBe(attempt)
    expect(world.hits.filter((hit) => hit.key === id).length).toBe(attempt)
  },
)
