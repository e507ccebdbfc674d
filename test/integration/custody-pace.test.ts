import { createServer } from 'node:http'
import { connect } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { expect, it, onTestFinished } from 'vitest'
import { notifierHandler } from '../../adapters/http/node.ts'
import type { Storage } from '../../src/core/ports/storage/storage.ts'
import { custodyWorld } from '../support/custody-world.ts'
import type { StorageLocation } from '../support/faults/store.ts'
import { STORAGES } from '../support/storages.ts'

const ada = { channel: 'email', to: 'ada@example.com' } as const
const location = STORAGES.find(([name]) => name === 'SQLite')?.[1] as () => Promise<StorageLocation>

/** A storage that tells of each step that looks through the notifications of a person. */
function tellingOf(each: () => Promise<void> | void): (storage: Storage) => Storage {
  return (storage) => ({
    ...storage,
    notifications: {
      ...storage.notifications,
      async list(...given) {
        await each()
        return storage.notifications.list(...given)
      },
    },
  })
}

async function world(each: () => Promise<void> | void) {
  const made = await custodyWorld(await location(), { deliver: false, wrap: tellingOf(each) })
  const mail = { ...ada, subject: 'Hi', body: 'Hello' }
  await made.notifier.sendBatch(Array.from({ length: 200 }, () => mail))
  return made
}

it('exports and dry runs of all callers take one step at a time, with turns for others', async () => {
  let running = 0
  let most = 0
  const { notifier, exported } = await world(async () => {
    running += 1
    most = Math.max(most, running)
    await nextTurn()
    running -= 1
  })
  const dry = () => notifier.people.erase(ada, { dryRun: true })
  const [lines, { counts }] = await Promise.all([exported(ada), dry(), exported(ada), dry()])
  expect([most, lines.length, counts.notifications]).toEqual([1, 200, 200])
})

it.each([
  ['/v1/erasures', { ...ada, dryRun: true }],
  ['/v1/exports', { recipient: 'user:1' }],
])('a client that leaves ends its work at the next step: %s', async (path, body) => {
  let steps = 0
  let reached = (): void => {}
  const atFirst = new Promise<void>((resolve) => {
    reached = resolve
  })
  let go = (): void => {}
  const gate = new Promise<void>((resolve) => {
    go = resolve
  })
  const { notifier } = await world(async () => {
    steps += 1
    reached()
    await gate
  })
  const server = createServer(notifierHandler(notifier, { https: 'allow-loopback' }))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { secret } = await notifier.apiKeys.create({
    name: 'test',
    permission: 'Full Access',
    grants: ['content'],
  })
  const json = JSON.stringify(body)
  const left = new Promise<void>((resolve) =>
    server.once('connection', (socket) => socket.once('close', () => resolve())),
  )
  const { port } = server.address() as { port: number }
  const client = connect(port, '127.0.0.1')
  client.on('error', () => {})
  client.write(
    `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${secret}\r\n` +
      `Content-Type: application/json\r\nContent-Length: ${json.length}\r\n\r\n${json}`,
  )
  await atFirst
  client.destroy()
  await left
  go()
  // Behind the steps of the client, if it had any.
  await notifier.people.erase({ recipient: 'user:2' }, { dryRun: true })
  expect(steps).toBe(2)
})
