import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { sqlite } from '../../../adapters/storage/sqlite/index.ts'
import type { FactType } from '../../../src/core/notification/facts.ts'
import type { Receipt } from '../../../src/core/notification/receipt.ts'
import type { Provider } from '../../../src/core/ports/provider.ts'
import type { Storage } from '../../../src/core/ports/storage/storage.ts'
import { createNotifier } from '../../../src/create-notifier.ts'
import type { Notifier } from '../../../src/notifier.ts'
import { servedNotifier } from '../../../src/served-notifier.ts'
import { recordingProvider } from '../../../src/testing/recording-provider.ts'
import { eventually } from '../../support/eventually.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const directory = temporaryDirectory()
const DAY = 86_400_000
let databases = 0

const TYPES = ['deferred', 'delivered', 'bounced', 'opened', 'clicked', 'complained'] as const

function permutations<Item>(items: readonly Item[]): Item[][] {
  if (items.length <= 1) return [[...items]]
  return items.flatMap((item, index) =>
    permutations(items.toSpliced(index, 1)).map((rest) => [item, ...rest]),
  )
}

const receipt = (id: string, type: FactType): Receipt => ({
  dedupeKey: `${id} ${type}`,
  fact: { type, providerMessageId: `m-${id}` },
})

function take(notifier: Notifier, receipts: readonly Receipt[]): Promise<unknown> {
  const body = new TextEncoder().encode(JSON.stringify(receipts))
  const arrival = { method: 'POST', target: '/', host: undefined, headers: {}, body }
  return servedNotifier(notifier).receipts.take({ channel: 'email', provider: 'recorder' }, arrival)
}

const parseReceipts: Provider['parseReceipts'] = async ({ body }) => ({
  kind: 'receipts',
  receipts: JSON.parse(new TextDecoder().decode(body)),
})

describe('receipts', () => {
  const clock = { offset: 0, now: () => Date.now() + clock.offset }
  /** As many notifiers over one place as are asked for; they share the storage only. */
  async function start(channel: Provider, count = 1): Promise<Notifier[]> {
    databases += 1
    const file = join(directory, `${databases}.db`)
    const open = (): Storage => sqlite({ file, synchronous: 'normal', clock })
    return Promise.all(
      Array.from({ length: count }, async () => {
        const notifier = createNotifier({ channels: { email: channel }, storage: open() })
        await notifier.start()
        onTestFinished(() => notifier.stop())
        return notifier
      }),
    )
  }

  const send = async (notifier: Notifier): Promise<string> =>
    (await notifier.send({ channel: 'email', to: 'ada@example.com', body: 'x' })).id

  const statusIs = (notifier: Notifier, id: string, status: string): Promise<unknown> =>
    eventually(async () => (await notifier.notifications.get(id)).status === status)

  it('end in one state in all 720 orders of six, some before the hand-over is recorded, each twice', async () => {
    const orders = permutations(TYPES)
    const early = new Map<string, readonly FactType[]>()
    const published = new Map<string, string[]>()
    const channel = recordingProvider({
      maxConcurrent: 100,
      parseReceipts,
      async send(_message, { notificationId: id }) {
        // What the provider reports before it has answered us.
        for (const type of early.get(id) ?? []) await take(notifier, [receipt(id, type)])
        return { kind: 'accepted', providerMessageId: `m-${id}` }
      },
    })
    const [notifier] = (await start(channel)) as [Notifier]
    for (const type of [
      'sent',
      'delivered',
      'failed',
      'opened',
      'clicked',
      'deferred',
      'complained',
    ] as const) {
      notifier.on(`notification.${type}`, ({ data: { id } }) =>
        published.set(id, [...(published.get(id) ?? []), type]),
      )
    }
    const message = { channel: 'email', to: 'ada@example.com', body: 'x' } as const
    // Later, so that what comes early is known before the first hand-over.
    const sendAt = new Date(clock.now() + 400)
    const { items } = await notifier.sendBatch(orders.map(() => ({ ...message, sendAt })))
    const ids = items.map((item) => ('id' in item ? item.id : ''))
    for (const [index, id] of ids.entries()) early.set(id, orders[index]?.slice(0, index % 4) ?? [])
    await Promise.all(
      ids.map(async (id, index) => {
        await eventually(() => channel.calls.some(({ context }) => context.notificationId === id), {
          everyMs: 50,
        })
        for (const type of orders[index]?.slice(index % 4) ?? []) await take(notifier, [receipt(id, type)])
      }),
    )
    await Promise.all(ids.map((id) => statusIs(notifier, id, 'clicked')))
    await Promise.all(
      ids.map((id) =>
        take(
          notifier,
          TYPES.map((type) => receipt(id, type)),
        ),
      ),
    )
    const wanted = ['sent', 'delivered', 'failed', 'opened', 'clicked', 'deferred', 'complained'].sort()
    for (const id of ids) {
      const { status, error, timeline } = await notifier.notifications.get(id)
      expect([status, error]).toEqual(['clicked', null])
      expect(timeline.map(({ event }) => event).sort()).toEqual(
        ['queued', 'sent', ...TYPES].sort().map(asFirst),
      )
      expect(published.get(id)?.sort()).toEqual(wanted)
    }
  })

  it('a hundred times, also at once and to two processes, are one', async () => {
    const notifiers = await start(recordingProvider({ parseReceipts }), 2)
    const [first, second] = notifiers as [Notifier, Notifier]
    const id = await send(first)
    await statusIs(first, id, 'sent')
    let told = 0
    for (const notifier of notifiers) {
      notifier.on('notification.delivered', () => {
        told += 1
      })
    }
    const same = Array.from({ length: 100 }, (_, index) => [first, second][index % 2] as Notifier)
    await Promise.all(same.map((notifier) => take(notifier, [receipt(id, 'delivered')])))
    const { timeline } = await second.notifications.get(id)
    expect(timeline.map(({ event }) => event)).toEqual(['queued', 'sent', 'delivered'])
    expect(told).toBe(1)
  })

  it('about what is not known change nothing, and those of a month ago still count', async () => {
    const [notifier] = (await start(recordingProvider({ parseReceipts }))) as [Notifier]
    const id = await send(notifier)
    await statusIs(notifier, id, 'sent')
    await take(notifier, [receipt('notif_0', 'delivered')])
    await take(notifier, [{ ...receipt('notif_0', 'opened'), notificationId: 'notif_0' }])
    expect((await notifier.notifications.list()).items.map(({ status }) => status)).toEqual(['sent'])
    clock.offset = 30 * DAY
    onTestFinished(() => {
      clock.offset = 0
    })
    await take(notifier, [receipt(id, 'delivered')])
    expect((await notifier.notifications.get(id)).status).toBe('delivered')
  })

  it('by the thousand, while messages are sent, hold up nothing and lose nothing', async () => {
    const channel = recordingProvider({ parseReceipts, maxConcurrent: 20 })
    const [notifier] = (await start(channel)) as [Notifier]
    const ids = await Promise.all(Array.from({ length: 200 }, () => send(notifier)))
    await eventually(() => channel.calls.length >= 200)
    const storm = ids.flatMap((id) => TYPES.map((type) => receipt(id, type)))
    const taken = Promise.all(
      Array.from({ length: 40 }, (_, index) => take(notifier, storm.slice(index * 30, (index + 1) * 30))),
    )
    const more = await Promise.all(Array.from({ length: 200 }, () => send(notifier)))
    await taken
    await Promise.all(ids.map((id) => statusIs(notifier, id, 'clicked')))
    await Promise.all(more.map((id) => statusIs(notifier, id, 'sent')))
    expect(channel.calls.length).toBe(400)
  })
})

/** These were for later. */
function asFirst(event: string): string {
  return event === 'queued' ? 'scheduled' : event
}
