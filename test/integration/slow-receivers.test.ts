import type { Socket } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { webhook } from '../../adapters/channels/webhook/send.ts'
import { sqlite } from '../../adapters/storage/sqlite/index.ts'
import { perOrganization } from '../../src/core/channels/channel-option.ts'
import { webhook as webhookKind } from '../../src/core/channels/webhook.ts'
import type { Queue, QueueWorker } from '../../src/core/ports/queue.ts'
import { createNotifier } from '../../src/create-notifier.ts'
import type { Notifier } from '../../src/notifier.ts'
import type { NotifierOptions } from '../../src/options.ts'
import { mapStorage } from '../map-storage/index.ts'
import { createState } from '../map-storage/state.ts'
import { eventually } from '../support/eventually.ts'
import { httpReceiver, type Receiver, tcpReceiver } from '../support/receivers.ts'

const SLOTS = 10
const BATCH = 60
const NEVER_MS = 3_600_000

const cleanUp: (() => unknown)[] = []
afterEach(async () => {
  for (const clean of cleanUp.splice(0).reverse()) await clean()
})

/** Sends a byte of its answer now and then, and never the last one. */
async function drippingReceiver() {
  const open = new Set<Socket>()
  let ended = 0
  const receiver = await tcpReceiver((socket) => {
    open.add(socket)
    let drip: NodeJS.Timeout | undefined
    socket.on('error', () => {})
    socket.on('close', () => {
      ended += 1
      open.delete(socket)
      clearInterval(drip)
    })
    socket.once('data', () => {
      socket.write('HTTP/1.1 200 OK\r\nx-drip: ')
      drip = setInterval(() => socket.write('.'), 50)
    })
  })
  cleanUp.push(receiver.close)
  return { receiver, open: () => open.size, ended: () => ended }
}

async function promptReceiver(): Promise<Receiver> {
  const receiver = await httpReceiver((response) => response.end())
  cleanUp.push(receiver.close)
  return receiver
}

const receiverOf = (name: string, onlyFor?: number): ReturnType<typeof webhook> => {
  const provider = webhook({
    name,
    allow: ['127.0.0.0/8'],
    allowHttp: true,
    timeoutMs: 25_000,
    maxConcurrent: SLOTS,
  })
  return onlyFor === undefined
    ? provider
    : { ...provider, accepts: (to) => to.includes(`:${onlyFor}/`) && provider.accepts?.(to) !== false }
}

async function started(options: Partial<NotifierOptions> & Pick<NotifierOptions, 'channels'>) {
  const notifier = createNotifier({
    storage: sqlite({ file: ':memory:' }),
    plans: {},
    delivery: { pollMs: NEVER_MS },
    ...options,
  })
  notifier.on('error', () => {})
  await notifier.start()
  cleanUp.push(() => notifier.stop({ timeoutMs: 0 }))
  for (const id of ['org_a', 'org_b', 'org_c', 'org_d']) await notifier.organizations.create({ id, name: id })
  return notifier
}

const to = ({ port }: Receiver, path = '') => ({
  channel: 'webhook' as const,
  to: `http://127.0.0.1:${port}/${path}`,
  body: 'Hi',
})

async function flood(notifier: Notifier, organizationId: string, receiver: Receiver): Promise<void> {
  const { accepted } = await notifier
    .organization(organizationId)
    .sendBatch(Array.from({ length: BATCH }, () => to(receiver)))
  expect(accepted).toBe(BATCH)
}

describe('while the receiver of one organization drips its answers', () => {
  it('the messages of others go out, each as soon as it is sent', async () => {
    const slow = await drippingReceiver()
    const prompt = await promptReceiver()
    const notifier = await started({ channels: { webhook: receiverOf('hooks') } })
    await flood(notifier, 'org_a', slow.receiver)
    await eventually(() => slow.open() >= SLOTS / 2)
    for (let count = 1; count <= 20; count += 1) {
      await notifier.organization('org_b').send(to(prompt))
      await eventually(() => prompt.requests.length === count)
    }
    expect([slow.open(), slow.ended()]).toEqual([SLOTS / 2, 0])
  })

  it('and of a second and third one, a fourth finds a slot', async () => {
    const slow = await drippingReceiver()
    const prompt = await promptReceiver()
    const notifier = await started({ channels: { webhook: receiverOf('hooks') } })
    for (const id of ['org_a', 'org_b', 'org_c']) await flood(notifier, id, slow.receiver)
    await eventually(() => slow.open() >= SLOTS - 2)
    await notifier.organization('org_d').send(to(prompt))
    await eventually(() => prompt.requests.length === 1)
    expect([slow.open() < SLOTS, slow.ended()]).toEqual([true, 0])
  })

  it('the application has all slots for itself until another organization sends', async () => {
    const slow = await drippingReceiver()
    const notifier = await started({ channels: { webhook: receiverOf('hooks') } })
    await flood(notifier, 'org_default', slow.receiver)
    await eventually(() => slow.open() === SLOTS)
  })

  it('and then leaves some to others too', async () => {
    const slow = await drippingReceiver()
    const prompt = await promptReceiver()
    const notifier = await started({ channels: { webhook: receiverOf('hooks') } })
    await notifier.organization('org_b').send(to(prompt))
    await eventually(() => prompt.requests.length === 1)
    await flood(notifier, 'org_default', slow.receiver)
    await eventually(() => slow.open() >= SLOTS / 2)
    await notifier.organization('org_b').send(to(prompt))
    await eventually(() => prompt.requests.length === 2)
    expect([slow.open(), slow.ended()]).toEqual([SLOTS / 2, 0])
  })

  it('each of several providers has room for others, also one that alone reaches their recipients', async () => {
    const slow = await drippingReceiver()
    const prompt = await promptReceiver()
    // The second one takes only what goes to the slow receiver.
    const providers = [receiverOf('first'), receiverOf('second', slow.receiver.port)]
    const notifier = await started({ channels: { webhook: providers } })
    await flood(notifier, 'org_a', slow.receiver)
    await eventually(() => slow.open() >= SLOTS)
    await notifier.organization('org_b').send(to(prompt))
    await eventually(() => prompt.requests.length === 1)
    expect([slow.open(), slow.ended()]).toEqual([SLOTS, 0])
  })

  it('organizations without providers of their own share those of the application', async () => {
    const slow = await drippingReceiver()
    const prompt = await promptReceiver()
    const channel = perOrganization(webhookKind, async () => null, receiverOf('hooks'))
    const notifier = await started({ channels: { webhook: channel } })
    await flood(notifier, 'org_a', slow.receiver)
    await eventually(() => slow.open() >= SLOTS / 2)
    await notifier.organization('org_b').send(to(prompt))
    await eventually(() => prompt.requests.length === 1)
    expect([slow.open(), slow.ended()]).toEqual([SLOTS / 2, 0])
  })

  it('a queue engine hands over what may start, and leaves the rest to claims', async () => {
    const slow = await drippingReceiver()
    const prompt = await promptReceiver()
    const storage = mapStorage(createState(Date))
    const notifier = await started({
      channels: { webhook: receiverOf('hooks') },
      storage,
      queue: handingOver(),
    })
    await notifier.organization('org_b').send(to(prompt))
    await eventually(() => prompt.requests.length === 1)
    await flood(notifier, 'org_a', slow.receiver)
    await eventually(() => slow.open() >= SLOTS / 2)
    for (let count = 2; count <= 5; count += 1) {
      await notifier.organization('org_b').send(to(prompt))
      await eventually(() => prompt.requests.length === count)
    }
    expect([slow.open(), slow.ended()]).toEqual([SLOTS / 2, 0])
  })
})

/** Hands each ref to this process at once. */
function handingOver(): Queue {
  let worker: QueueWorker | undefined
  return {
    name: 'at-once',
    async open() {},
    async enqueue(refs) {
      void worker?.handle(refs)
    },
    async work(given) {
      worker = given
      return async () => {}
    },
    async close() {},
  }
}
