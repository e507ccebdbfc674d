import { defineChannel } from 'carillon'
import { definePlugin, type PluginRecords } from 'carillon/plugin-kit'
import { expect, it } from 'vitest'
import type { Fact } from '../../src/core/notification/facts.ts'
import { recordingProvider } from '../../src/testing/recording-provider.ts'
import { custodyWorld } from '../support/custody-world.ts'
import { eventually } from '../support/eventually.ts'
import type { StorageLocation } from '../support/faults/store.ts'
import { describeEachWith } from '../support/left-out.ts'
import { STORAGES, whyNoStorage } from '../support/storages.ts'
import { storedText } from '../support/stored-text.ts'

const ADA = 'ada@example.com'
const ada = { channel: 'email', to: ADA } as const
const mail = (to: string, more: object = {}) =>
  ({ channel: 'email', to, subject: 'Hi', body: 'Hello', ...more }) as const

interface Visit {
  readonly user: string
  readonly mail: string
}

interface VisitsOf {
  readonly visits: {
    add(id: string, value: Visit): Promise<void>
    ids(): Promise<readonly (readonly string[])[]>
  }
}

const visits: PluginRecords<Visit> = {
  name: 'visits',
  version: 1,
  concerns: ({ user, mail: to }) => ({ recipients: [user], addresses: [{ channel: 'email', to }] }),
}
const tallies: PluginRecords<object> = { name: 'visits_tallies', version: 1, concerns: () => null }

const visiting = definePlugin({
  name: 'visits',
  records: [visits, tallies],
  setup({ records }) {
    const [store, counts] = [records(visits), records(tallies)]
    return {
      api: {
        async add(organizationId: string, id: string, value: Visit) {
          await store.insert(organizationId, id, value)
          await counts.insert(organizationId, id, { of: value.mail })
        },
        ids: async (organizationId: string) => [
          (await store.list(organizationId)).items.map(({ id }) => id),
          (await counts.list(organizationId)).items.map(({ id }) => id),
        ],
      },
    }
  },
})

const pager = defineChannel({
  name: 'pager',
  recipient: 'a number',
  canonical: (to) => to.replaceAll('-', ''),
})

describeEachWith(STORAGES, whyNoStorage, 'an erasure on %s', (_name, locationOf) => {
  it('removes what the person wrote, and reports about unknown messages', async () => {
    const { notifier, storage, erase, exported } = await custodyWorld(await locationOf(), {
      webhooks: { allow: ['127.0.0.1/32'], allowHttp: true },
    })
    await notifier.webhooks.create({ url: 'http://127.0.0.1:9999/', events: ['message.received'] })
    const report = (dedupeKey: string) => ({ provider: 'mail', organizationId: 'org_default', dedupeKey })
    const wrote = (from: string) => ({
      ...report(`wrote ${from}`),
      consent: [],
      received: {
        id: `msg_${from}`,
        organizationId: 'org_default',
        channel: 'email',
        provider: 'mail',
        consent: null,
        from,
        to: null,
        text: `Words of ${from}`,
      },
    })
    const bounced = (address: string) => ({
      ...report(`bounced ${address}`),
      fact: { type: 'bounced', provider: 'mail', providerMessageId: `of ${address}`, address } as Fact,
    })
    await storage.recordReceipts([wrote('Ada@Example.com'), wrote('bob@example.com')] as never)
    await storage.recordReceipts([bounced(ADA.toUpperCase()), bounced('bob@example.com')])
    const lines = await exported(ada)
    expect(lines.map(({ type }) => type)).toEqual(['received', 'report'])
    expect(lines[0]).toMatchObject({ from: 'Ada@Example.com', text: 'Words of Ada@Example.com' })
    expect(lines[1]).toMatchObject({ report: { type: 'bounced', address: ADA.toUpperCase() } })
    expect(await erase(ada)).toMatchObject({ counts: { received: 2 } })
    expect(await exported(ada)).toEqual([])
    expect(await exported({ channel: 'email', to: 'bob@example.com' })).toHaveLength(2)
  })

  it('goes by the address of every channel', async () => {
    const url = 'https://hooks.example.com/ada-mrk'
    const addresses = { sms: '+436601234567', push: 'token-ada-mrk', slack: 'C0ADAMRK', webhook: url }
    const provider = () => recordingProvider()
    const { notifier, erase, exported } = await custodyWorld(await locationOf(), {
      channels: {
        sms: provider(),
        push: provider(),
        slack: provider(),
        webhook: provider(),
        pager: { ...provider(), kind: pager },
      },
    } as never)
    const all = [...Object.entries(addresses), ['pager', '555-0123'], ['pager', '5550123']]
    for (const [channel = '', to = ''] of all) await notifier.send({ channel, to, body: 'Hello' } as never)
    for (const [channel = '', to = ''] of all.slice(0, -1)) await notifier.suppressions.add({ channel, to })
    for (const [channel = '', to = ''] of all.slice(0, -1)) {
      const own = channel === 'pager' ? 2 : 1
      expect([channel, await exported({ channel, to })]).toEqual([
        channel,
        [
          ...Array.from({ length: own }, () => expect.objectContaining({ type: 'notification', channel })),
          expect.objectContaining({ type: 'suppression', channel }),
        ],
      ])
      const { counts } = await erase({ channel, to })
      expect([channel, counts.notifications, counts.suppressions]).toEqual([channel, own, 1])
    }
    const { items } = await notifier.notifications.list()
    expect(items.map(({ to }) => to)).toEqual(items.map(() => '(erased)'))
    expect(items).toHaveLength(all.length)
  })

  it('shows and removes the records of plug-ins that concern the person', async () => {
    const { notifier, erase, exported } = await custodyWorld(await locationOf(), { plugins: [visiting] })
    const { visits: own } = notifier as never as VisitsOf
    await own.add('v1', { user: 'user:1', mail: 'ADA@example.com' })
    await own.add('v2', { user: 'user:2', mail: 'bob@example.com' })
    await own.add('v3', { user: 'user:3', mail: 'eve@example.com' })
    expect(await exported(ada)).toEqual([
      expect.objectContaining({
        type: 'record',
        value: { user: 'user:1', mail: 'ADA@example.com' },
        createdAt: expect.stringMatching(/^2.*Z$/),
      }),
    ])
    expect(await erase(ada)).toMatchObject({ counts: { records: 1 } })
    expect(await own.ids()).toEqual([
      ['v3', 'v2'],
      ['v3', 'v2', 'v1'],
    ])
    expect(await erase({ recipient: 'user:2' })).toMatchObject({ counts: { records: 1 } })
    expect((await own.ids())[0]).toEqual(['v3'])
  })

  it('by id spares a record of a plug-in that names another person with the same address', async () => {
    const { notifier, erase, exported } = await custodyWorld(await locationOf(), {
      plugins: [visiting],
      recipients: { resolve: (ids) => new Map(ids.map((id) => [id, { channels: { email: ADA } }])) },
    })
    const { visits: own } = notifier as never as VisitsOf
    await notifier.send({ channel: 'email', recipient: 'user:1', subject: 'Hi', body: 'Hello' })
    await own.add('v1', { user: 'user:2', mail: ADA })
    expect((await exported({ recipient: 'user:1' })).map(({ type }) => type)).toEqual(['notification'])
    expect(await erase({ recipient: 'user:1' })).toMatchObject({ counts: { notifications: 1, records: 0 } })
    expect((await own.ids())[0]).toEqual(['v1'])
  })

  it('keeps a late bounce of an erased person or copy without the address', async () => {
    const where: StorageLocation = await locationOf()
    const { notifier, storage, sent, erase } = await custodyWorld(where)
    const own = await notifier.send(mail('ada-mrk@example.com'))
    const copied = await notifier.send(mail('bob@example.com', { email: { cc: ['ada-mrk@example.com'] } }))
    await eventually(async () => sent.length === 2)
    await eventually(async () => (await notifier.notifications.get(copied.id)).status === 'sent')
    expect(await erase({ channel: 'email', to: 'ada-mrk@example.com' })).toMatchObject({
      counts: { notifications: 1, copies: 1 },
    })
    await storage.recordReceipts(
      [own, copied].map(({ id }) => ({
        provider: 'mail',
        organizationId: null,
        dedupeKey: id,
        notificationId: id,
        fact: {
          type: 'bounced',
          provider: 'mail',
          address: 'Ada-mrk@example.com',
          message: 'No Ada-mrk@example.com here',
          suppress: 'hard_bounce',
        },
      })),
    )
    expect((await notifier.suppressions.list()).items).toMatchObject([{ to: null, reason: 'hard_bounce' }])
    expect((await notifier.notifications.get(copied.id)).timeline.at(-1)).toMatchObject({
      status: 'sent',
      address: null,
    })
    await notifier.stop()
    expect(/ada-mrk@/i.exec(storedText(where))).toBeNull()
  })
})
