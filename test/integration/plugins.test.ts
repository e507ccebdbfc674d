import { definePlugin, go, onDue, type PluginRecords, skip } from 'carillon/plugin-kit'
import { expect, it, onTestFinished } from 'vitest'
import { createNotifier } from '../../src/create-notifier.ts'
import { recordingProvider } from '../../src/testing/recording-provider.ts'
import { eventually } from '../support/eventually.ts'
import { openStorage, type StorageLocation } from '../support/faults/store.ts'
import { describeEachWith } from '../support/left-out.ts'
import { STORAGES, whyNoStorage } from '../support/storages.ts'

interface Page {
  readonly to: string
  readonly at: number
}

const pages: PluginRecords<Page> = {
  name: 'paging',
  version: 1,
  due: ({ at }) => at,
  concerns: ({ to }) => ({ addresses: [{ channel: 'email', to }] }),
}

const mail = (to: string) => ({ channel: 'email', to, subject: 'Hi', body: 'Hello' }) as const

/** Tells people that nobody has acknowledged their page, and pages nobody who has an open one. */
const paging = definePlugin({
  name: 'paging',
  records: [pages],
  setup({ records, now, sendWith }) {
    const store = records(pages)
    return {
      api: {
        page: (organizationId: string, to: string, inMs: number) =>
          sendWith(organizationId, {
            sends: [mail(to)],
            inserts: [{ kind: pages, id: to, value: { to, at: now() + inMs } }],
          }),
        acknowledge: (organizationId: string, to: string) => store.remove(organizationId, to),
        open: async (organizationId: string) => (await store.list(organizationId)).items.map(({ id }) => id),
      },
      due: [onDue(pages, ({ value: { to } }) => ({ next: null, sends: [mail(`late-${to}`)] }))],
      async judge(messages, reads) {
        const refs = messages.map(({ organizationId, to }) => ({ organizationId, id: to }))
        const found = await reads.find(pages, refs)
        return messages.map(({ metadata }, at) =>
          metadata?.quiet === 'yes' && found[at] !== null ? skip('paged', 'They have an open page.') : go,
        )
      },
    }
  },
})

describeEachWith(STORAGES, whyNoStorage, 'a plug-in on %s', (_name, location) => {
  async function start(where: StorageLocation) {
    const email = recordingProvider()
    const notifier = createNotifier({
      channels: { email },
      storage: openStorage(where),
      plugins: [paging],
      delivery: { pollMs: 20 },
    })
    onTestFinished(() => notifier.stop())
    await notifier.start()
    const sentTo = () => email.messages.map(({ to }) => to).sort()
    return { notifier, sentTo }
  }

  it('sends with a timer, which ends once: by itself or by its cancellation', async () => {
    const { notifier, sentTo } = await start(await location())
    await notifier.paging.page('ada@example.com', 200)
    await notifier.paging.page('bob@example.com', 200)
    expect(await notifier.paging.acknowledge('bob@example.com')).toBe(true)
    await eventually(() => expect(sentTo()).toContain('late-ada@example.com'))
    await eventually(async () => expect(await notifier.paging.open()).toEqual([]))
    expect(sentTo()).toEqual(['ada@example.com', 'bob@example.com', 'late-ada@example.com'])
    await expect(notifier.paging.page('nobody', 200)).rejects.toMatchObject({ code: 'invalid_email' })
    expect(await notifier.paging.open()).toEqual([])
  })

  it('judges by its records, over two organizations at once', async () => {
    const { notifier } = await start(await location())
    const { id } = await notifier.organizations.create({ name: 'Acme' })
    const acme = notifier.organization(id)
    await acme.paging.page('ada@example.com', 3_600_000)
    const quietly = { ...mail('ada@example.com'), metadata: { quiet: 'yes' } }
    const [own, other] = await Promise.all([acme.send(quietly), notifier.send(quietly)])
    expect((await acme.waitFor(own.id)).error?.decidedBy).toBe('paging.paged')
    expect((await notifier.waitFor(other.id)).status).toBe('sent')
  })

  it('in two processes: one of them ends each timer', async () => {
    const where = await location()
    const [one, other] = [await start(where), await start(where)]
    const people = Array.from({ length: 20 }, (_, at) => `p${at}@example.com`)
    for (const to of people) await one.notifier.paging.page(to, 100)
    await eventually(async () => expect(await one.notifier.paging.open()).toEqual([]))
    await eventually(() => expect([...one.sentTo(), ...other.sentTo()]).toHaveLength(40))
    const late = [...one.sentTo(), ...other.sentTo()].filter((to) => to.startsWith('late-'))
    expect(late.sort()).toEqual(people.map((to) => `late-${to}`).sort())
  })
})
