import { setTimeout as wait } from 'node:timers/promises'
import { expect, it } from 'vitest'
import { NO_COUNTS } from '../../src/features/custody/counts.ts'
import { delayKind } from '../../src/features/delays/records.ts'
import { servedNotifier } from '../../src/served-notifier.ts'
import { custodyWorld } from '../support/custody-world.ts'
import { eventually } from '../support/eventually.ts'
import { describeEachWith } from '../support/left-out.ts'
import { STORAGES, whyNoStorage } from '../support/storages.ts'

const ADA = 'ada@example.com'
const ada = { channel: 'email', to: ADA } as const
const mail = (to: string, more: object = {}) =>
  ({ channel: 'email', to, subject: 'Hi', body: 'Hello', ...more }) as const
const later = () => new Date(Date.now() + 86_400_000).toISOString()

describeEachWith(STORAGES, whyNoStorage, 'an erasure on %s', (_name, location) => {
  it('of an unknown person is a success with zeros', async () => {
    const { erase, exported, notifier } = await custodyWorld(await location())
    for (const person of [ada, { recipient: 'user:42' }]) {
      expect(await exported(person)).toEqual([])
      const counted = await notifier.people.erase(person, { dryRun: true })
      expect(counted).toMatchObject({ id: null, counts: NO_COUNTS })
      expect(await erase(person)).toMatchObject({ status: 'completed', counts: NO_COUNTS })
    }
  })

  it('counts in a dry run, and changes nothing', async () => {
    const { notifier, exported } = await custodyWorld(await location(), { deliver: false })
    const { id } = await notifier.attachments.upload(Buffer.from('file'), {
      filename: 'a.txt',
      contentType: 'text/plain',
    })
    await notifier.send(mail(ADA, { email: { attachments: [{ id }] } }))
    await notifier.send(mail('ADA@example.com', { sendAt: later() }))
    await notifier.send(mail('bob@example.com', { email: { cc: ['Ada@Example.com'] } }))
    await notifier.suppressions.add({ ...ada, reason: 'manual' })
    await notifier.preferences.change(ada, { channels: { email: true } })
    const before = await exported(ada)
    const { counts, status } = await notifier.people.erase(ada, { dryRun: true })
    const some = { notifications: 2, cancelled: 2, copies: 1, uploads: 1, preferences: 1, suppressions: 1 }
    expect([status, counts]).toEqual(['dry_run', { ...NO_COUNTS, ...some }])
    expect(await exported(ada)).toEqual(before)
    expect((await notifier.people.listErasures()).items).toEqual([])
    expect(await notifier.people.erase(ada)).toMatchObject({ counts, status: 'running' })
  })

  it('takes the person out of the refusals, and leaves those of others', async () => {
    const { notifier, erase, exported } = await custodyWorld(await location())
    await notifier.suppressions.add({ ...ada, reason: 'complaint' })
    const batch = [
      mail('Ada@Example.com'),
      mail('Ada <ada@example.com>'),
      mail('bob@example.com', { email: { cc: 7 } }),
      { channel: 'email', recipient: 'user:1', body: 'Hi' },
    ]
    await notifier.sendBatch(batch as never)
    const refusals = async () =>
      (await notifier.refusals.list()).items.map(({ to, recipient }) => to ?? recipient)
    await eventually(async () => (await exported(ada)).some(({ type }) => type === 'refusals'))
    const lines = await exported(ada)
    expect(lines.find(({ type }) => type === 'refusals')).toMatchObject({
      refusals: [{ to: 'Ada@Example.com', code: 'blocked_recipient' }],
    })
    expect(await erase(ada)).toMatchObject({ counts: { records: 1, suppressions: 1 } })
    expect(await refusals()).toEqual(['user:1', 'bob@example.com', null])
    expect(await erase({ recipient: 'user:1' })).toMatchObject({ counts: { records: 1 } })
    expect(await refusals()).toEqual(['bob@example.com', null])
  })

  it('finds an address in any spelling', async () => {
    const { notifier, exported, erase } = await custodyWorld(await location())
    const spellings = [
      'Ada@büchertür.example',
      'ada@BÜCHERTÜR.Example',
      'ADA@Büchertür.Example',
      'ada@bu\u0308chertu\u0308r.example',
      'ADA@bU\u0308cHERTÜR.EXAMPLE',
      'ada@bÜchertür.example',
    ]
    for (const to of spellings) {
      await notifier.send(mail(to))
      await notifier.send(mail('bob@example.com', { email: { cc: [to] } }))
    }
    await notifier.send(mail('ada@xn--bchertr-n2af.example'))
    await notifier.send(mail('bob@example.com', { email: { cc: ['ADA@xn--bchertr-n2af.example'] } }))
    await notifier.send(mail('ada@buchertur.example'))
    await notifier.send(mail('ada@xn--bchrtr-3yae.example'))
    await notifier.send(mail('adalind@büchertür.example'))
    await notifier.suppressions.add({ channel: 'email', to: 'ada@büchertür.example' })
    const counts = { ...NO_COUNTS, notifications: 7, copies: 7, suppressions: 1 }
    for (const to of ['ada@xn--bchertr-n2af.example', ...spellings]) {
      expect(await exported({ channel: 'email', to })).toHaveLength(15)
      expect(await notifier.people.erase({ channel: 'email', to }, { dryRun: true })).toMatchObject({
        counts,
      })
    }
    expect(await erase({ channel: 'email', to: 'ADA@BÜCHERTÜR.EXAMPLE' })).toMatchObject({ counts })
    const left = (await notifier.notifications.list({ limit: 100 })).items.map(({ to }) => to)
    expect(left.filter((to) => to.startsWith('ada')).sort()).toEqual([
      'ada@buchertur.example',
      'ada@xn--bchrtr-3yae.example',
      'adalind@büchertür.example',
    ])
  })

  it('by address spares another person with it by id, and by id spares others with the address', async () => {
    const { notifier, erase, exported } = await custodyWorld(await location(), {
      recipients: { resolve: (ids) => new Map(ids.map((id) => [id, { channels: { email: ADA } }])) },
    })
    const send = (recipient: string) =>
      notifier.send({ channel: 'email', recipient, subject: 'Hi', body: `for ${recipient}` })
    await send('user:1')
    await send('user:2')
    await notifier.send(mail(ADA))
    expect(await erase({ recipient: 'user:1' })).toMatchObject({ counts: { notifications: 1 } })
    expect(await exported({ recipient: 'user:1' })).toEqual([])
    expect(await exported({ recipient: 'user:2' })).toHaveLength(1)
    expect((await exported(ada)).filter(({ type }) => type === 'notification')).toHaveLength(2)
  })

  it('by id leaves what is stored about its addresses, which others may have', async () => {
    const { notifier, erase, exported } = await custodyWorld(await location(), {
      recipients: { resolve: (ids) => new Map(ids.map((id) => [id, { channels: { email: ADA } }])) },
    })
    const own = { recipient: 'user:1' }
    await notifier.send({ channel: 'email', ...own, subject: 'Hi', body: 'Hello' })
    await notifier.preferences.change(own, { channels: { email: true } })
    await notifier.preferences.change(ada, { channels: { email: true } })
    await notifier.suppressions.add({ ...ada, reason: 'complaint', source: 'asked by Bob' })
    await notifier.sendBatch([mail(ADA), { channel: 'email', recipient: 'user:1', body: 'Hi' }] as never)
    const refused = async () =>
      (await notifier.refusals.list()).items.map(({ to, recipient }) => recipient ?? to)
    await eventually(async () => (await exported(own)).some(({ type }) => type === 'refusals'))
    const lines = await exported(own)
    expect(lines.map(({ type }) => type).sort()).toEqual(['notification', 'preferences', 'refusals'])
    expect(lines.find(({ type }) => type === 'refusals')?.refusals).toHaveLength(1)
    const counts = { ...NO_COUNTS, notifications: 1, preferences: 1, records: 1 }
    expect(await notifier.people.erase(own, { dryRun: true })).toMatchObject({ counts })
    expect(await erase(own)).toMatchObject({ counts })
    expect(await refused()).toEqual([ADA])
    expect(await notifier.preferences.get(ada)).toMatchObject({ channels: { email: true } })
    expect((await notifier.suppressions.list()).items).toMatchObject([{ to: ADA, source: 'asked by Bob' }])
  })

  it('exports times for people', async () => {
    const { notifier, storage, sent, exported } = await custodyWorld(await location(), {
      categories: { news: { name: 'News' } },
      webhooks: { allow: ['127.0.0.1/32'], allowHttp: true },
    })
    await notifier.webhooks.create({ url: 'http://127.0.0.1:9999/', events: ['notification.sent'] })
    await notifier.preferences.change(ada, { categories: { news: true } })
    const { updatedAt } = await notifier.preferences.get(ada)
    await notifier.preferences.change(ada, { channels: { email: true } })
    const report = { provider: 'mail', organizationId: 'org_default', dedupeKey: 'one' }
    const fact = { type: 'bounced', provider: 'mail', providerMessageId: 'x', address: ADA, occurredAt: 5 }
    await storage.recordReceipts([{ ...report, fact } as never])
    await notifier.send(mail(ADA))
    await eventually(async () => sent.length === 1)
    await eventually(async () => JSON.stringify(await exported(ada)).includes('"succeeded":false'))
    const lines = await exported(ada)
    const preferences = lines.find(({ type }) => type === 'preferences')
    expect(preferences).toMatchObject({ chosenAt: { 'news:*': updatedAt } })
    expect(preferences?.updatedAt).toBe((await notifier.preferences.get(ada)).updatedAt)
    expect(lines.find(({ type }) => type === 'report')).toMatchObject({
      report: { occurredAt: '1970-01-01T00:00:00.005Z' },
    })
    // Epoch milliseconds.
    expect(/:1\d{12}\b/.exec(JSON.stringify(lines))).toBeNull()
  })

  it('exports nothing about what messages wait for', async () => {
    const { notifier, storage, exported } = await custodyWorld(await location(), { deliver: false })
    await notifier.send(mail(ADA))
    const windows = [{ from: '01:00', to: '02:00' }]
    await notifier.preferences.change(ada, { quietHours: { zone: 'UTC', windows } })
    const page = { limit: 1, offset: 0 }
    const delays = await storage.records.list(delayKind, { organizationId: 'org_default' }, page)
    expect(delays.items).toHaveLength(1)
    expect((await exported(ada)).map(({ type }) => type)).toEqual(['notification', 'preferences'])
  })

  it('shows a person no blind copy to another', async () => {
    const { notifier, exported } = await custodyWorld(await location())
    await notifier.send(
      mail('bob@example.com', {
        email: { cc: ['eve@example.com'], bcc: ['Ada@Example.com', 'spy@example.com'] },
      }),
    )
    const of = async (to: string) => (await exported({ channel: 'email', to }))[0]
    const copied = await of(ADA)
    expect(copied).toMatchObject({ type: 'copy', to: 'bob@example.com' })
    expect(JSON.stringify(copied)).toContain('eve@example.com')
    expect(JSON.stringify(copied)).toContain('Ada@Example.com')
    for (const to of [ADA, 'bob@example.com', 'eve@example.com'])
      expect(JSON.stringify(await of(to))).not.toContain('spy@')
    expect(JSON.stringify(await of('eve@example.com'))).not.toMatch(/ada@/i)
    expect(JSON.stringify(await of('spy@example.com'))).not.toMatch(/ada@/i)
  })

  it('keeps what is turned off, and an unsubscribe link that works', async () => {
    const { notifier, erase, sent } = await custodyWorld(await location(), {
      publicUrl: 'https://example.com/n',
      categories: { news: { name: 'News' }, offers: { name: 'Offers' } },
    })
    await notifier.preferences.change(ada, { categories: { offers: false } })
    await notifier.send(mail(ADA, { category: 'news', body: 'Out: {{unsubscribeUrl}}' }))
    await eventually(async () => sent.length === 1)
    await erase(ada)
    expect(await notifier.preferences.get(ada)).toMatchObject({ categories: { offers: false } })
    const [, token = ''] = /unsubscribe\?t=([\w.-]+)/.exec(JSON.stringify(sent)) ?? []
    await servedNotifier(notifier).pages.unsubscribe(token)
    const categories = { offers: false, news: { email: false } }
    expect(await notifier.preferences.get(ada)).toMatchObject({ categories })
    for (const category of ['news', 'offers']) {
      const { id } = await notifier.send(mail(ADA, { category }))
      await eventually(async () => (await notifier.notifications.get(id)).status === 'skipped')
    }
  })

  it('waits for a running attempt, and cancels what waits without naming anyone', async () => {
    let go = (): void => {}
    const gate = new Promise<void>((resolve) => {
      go = resolve
    })
    const events: unknown[] = []
    let busy = 0
    const { notifier, sent, erase, moveOn } = await custodyWorld(await location(), {
      wrap: (storage) => ({
        ...storage,
        custody: {
          ...storage.custody,
          async erase(request) {
            const answer = await storage.custody.erase(request)
            busy += answer.busy.length
            return answer
          },
        },
      }),
      send: async () => {
        await gate
        return { kind: 'accepted' }
      },
    })
    notifier.on('notification.cancelled', (event) => void events.push(event))
    const running = await notifier.send(mail(ADA))
    const waiting = await notifier.send(mail(ADA, { sendAt: later() }))
    await eventually(async () => sent.length === 1)
    const begun = await notifier.people.erase(ada)
    expect(begun).toMatchObject({ status: 'running', counts: { notifications: 1, cancelled: 1 } })
    expect(await notifier.notifications.get(running.id)).toMatchObject({ to: ADA })
    expect(await notifier.notifications.get(waiting.id)).toMatchObject({
      status: 'cancelled',
      to: '(erased)',
    })
    const seen = busy
    const erasure = erase(ada)
    // A pass that may be the last finds it, and is none.
    await eventually(async () => busy > seen)
    await wait(300)
    expect(await notifier.people.getErasure(begun.id ?? '')).toMatchObject({ status: 'running' })
    go()
    await eventually(async () => (await notifier.notifications.get(running.id)).status === 'sent')
    moveOn(11_000)
    expect(await erasure).toMatchObject({ id: begun.id, counts: { notifications: 2, cancelled: 1 } })
    expect(await notifier.notifications.get(running.id)).toMatchObject({ status: 'sent', to: '(erased)' })
    expect(events).toHaveLength(1)
    expect(JSON.stringify(events)).not.toContain(ADA)
  })

  it('is one for a person at a time, and says who may see it', async () => {
    const { notifier, erase } = await custodyWorld(await location())
    const [first, second] = await Promise.all([notifier.people.erase(ada), notifier.people.erase(ada)])
    expect(first.id).toBe(second.id)
    expect((await notifier.people.erase({ channel: 'email', to: 'ADA@EXAMPLE.com' })).id).toBe(first.id)
    await notifier.organizations.create({ id: 'org_acme', name: 'Acme' })
    const { people } = notifier.organization('org_acme')
    const id = first.id ?? ''
    await expect(people.getErasure(id)).rejects.toMatchObject({ code: 'organization_mismatch' })
    await expect(notifier.allOrganizations.people.getErasure(id)).rejects.toMatchObject({ code: 'not_found' })
    expect((await erase(ada)).id).toBe(id)
    expect((await notifier.people.erase(ada)).id).not.toBe(id)
    expect((await notifier.people.listErasures()).items).toHaveLength(2)
    const entries = (await notifier.auditLog.list({ action: 'person.erased' })).items
    expect(entries).toHaveLength(2)
    expect(entries[0]?.target.id).toBe(first.target)
    expect(JSON.stringify(entries)).not.toContain('example.com')
  })

  it('over all organizations goes through each', async () => {
    const { notifier, erase, exported } = await custodyWorld(await location(), { deliver: true })
    const ids = Array.from({ length: 45 }, (_, index) => `org_${index}`)
    for (const id of ids) {
      await notifier.organizations.create({ id, name: id })
      await notifier.organization(id).send(mail(ADA))
    }
    const all = notifier.allOrganizations
    expect(await exported(ada, all)).toHaveLength(45)
    const preview = await all.people.erase(ada, { dryRun: true })
    expect(preview).toMatchObject({ organizationId: null, counts: { notifications: 45 } })
    expect(await erase(ada, all)).toMatchObject({ organizationId: null, counts: { notifications: 45 } })
    expect(await exported(ada, all)).toEqual([])
    expect((await all.people.listErasures()).items).toHaveLength(1)
    expect((await notifier.people.listErasures()).items).toEqual([])
  })

  it('leaves nothing of a batch of 10,000 that races it', { timeout: 240_000 }, async () => {
    const { notifier, erase, exported } = await custodyWorld(await location())
    const batch = Array.from({ length: 1_000 }, (_, index) =>
      mail(ADA, { body: `${index}`, sendAt: later() }),
    )
    let accepted = 0
    const racing = Promise.all(
      Array.from({ length: 10 }, async () => {
        const result = await notifier.sendBatch(batch)
        accepted += result.accepted
      }),
    )
    await eventually(async () => accepted > 0)
    const begun = await notifier.people.erase(ada)
    await racing
    const { counts } = await erase(ada)
    expect([accepted, begun.status]).toEqual([10_000, 'running'])
    // A process that is overtaken, here because the time jumps, leaves its last step uncounted.
    expect(counts.notifications).toBeGreaterThan(9_000)
    expect(counts.cancelled).toBe(counts.notifications)
    expect(await exported(ada)).toEqual([])
  })

  it('refuses wrong input', async () => {
    const { notifier } = await custodyWorld(await location(), { deliver: false })
    const { people } = notifier
    const wrong: readonly [input: unknown, code: string, field?: string][] = [
      [{}, 'missing_required_field', 'recipient'],
      [undefined, 'invalid_parameter'],
      ['ada@example.com', 'invalid_parameter'],
      [{ recipient: '' }, 'invalid_parameter', 'recipient'],
      [{ recipient: 5 }, 'invalid_parameter', 'recipient'],
      [{ recipient: 'user\n1' }, 'invalid_parameter', 'recipient'],
      [{ recipient: 'user\u00001' }, 'invalid_parameter', 'recipient'],
      [{ channel: 'email' }, 'missing_required_field', 'to'],
      [{ to: ADA }, 'missing_required_field', 'channel'],
      [{ ...ada, recipient: 'user:1' }, 'invalid_parameter', 'recipient'],
      [{ channel: 'emial', to: ADA }, 'invalid_channel', 'channel'],
      [{ channel: 'email', to: 'ada' }, 'invalid_email', 'to'],
      [{ channel: 'sms', to: '123' }, 'invalid_phone', 'to'],
      [{ ...ada, organizationId: 'org_x' }, 'invalid_parameter'],
    ]
    for (const [input, code, field] of wrong) {
      for (const call of [people.erase, people.export]) {
        const error = await call(input as never).then(
          () => null,
          (reason) => reason,
        )
        expect([input, error?.code, error?.details?.field], error?.message).toEqual([
          input,
          code,
          field ?? error?.details?.field,
        ])
      }
    }
    await expect(people.erase(ada, { dryRun: 'yes' } as never)).rejects.toMatchObject({
      code: 'invalid_parameter',
    })
    await expect(people.getErasure('era_nothing')).rejects.toMatchObject({ code: 'not_found' })
    expect((await people.listErasures()).items).toEqual([])
  })

  it('may run a hundred times at once, and no more', async () => {
    const { notifier } = await custodyWorld(await location(), { deliver: false })
    const erase = (index: number) => notifier.people.erase({ recipient: `user:${index}` })
    for (let index = 0; index < 100; index += 1) await erase(index)
    await expect(erase(100)).rejects.toMatchObject({ code: 'erasure_limit_reached' })
    expect(await erase(5)).toMatchObject({ status: 'running' })
  })
})
