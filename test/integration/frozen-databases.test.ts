import { expect, it, onTestFinished } from 'vitest'
import { notifierFetch } from '../../adapters/http/fetch.ts'
import manifest from '../../package.json' with { type: 'json' }
import type { Notifier } from '../../src/index.ts'
import { verifyWebhook } from '../../src/webhook-receiver/index.ts'
import { eventually } from '../support/eventually.ts'
import { frozenVersions, thaw } from '../support/frozen/fixture.ts'
import { type FrozenNotifier, frozenNotifier } from '../support/frozen/notifier.ts'
import type { FrozenFacts } from '../support/frozen/plant.ts'
import { schemaOf } from '../support/frozen/schema.ts'
import { describeEachWith } from '../support/left-out.ts'
import { httpReceiver } from '../support/receivers.ts'
import { STORAGES, whyNoStorage } from '../support/storages.ts'

/** When the process of a new version starts. */
const LATER_MS = 60 * 60_000

const CASES = STORAGES.flatMap(([name, location]) =>
  frozenVersions().map((version) => [name, version, location] as const),
)

interface Thawed extends FrozenNotifier {
  readonly facts: FrozenFacts
  /** Another process at the same place and time. */
  again(): FrozenNotifier
  readonly acme: ReturnType<Notifier['organization']>
}

it('this version is frozen', () => {
  expect(frozenVersions()).toContain(manifest.version)
})

describeEachWith(CASES, whyNoStorage, 'a frozen database on %s', (_storage, version, newLocation) => {
  /** Delivers nothing, because the frozen webhook endpoints name ports that other programs may have by now. */
  const start = async (): Promise<Thawed> => {
    const location = await newLocation()
    const facts = await thaw(version, location)
    const laterMs = facts.frozenAt + LATER_MS - Date.now()
    const again = (): FrozenNotifier => {
      const opened = frozenNotifier(location, laterMs)
      onTestFinished(() => opened.notifier.stop())
      return opened
    }
    const opened = again()
    await opened.notifier.start({ deliver: false })
    return { ...opened, again, facts, acme: opened.notifier.organization(facts.organization) }
  }

  it(`of ${version} gets the schema of a new one`, async () => {
    const [old, fresh] = [await newLocation(), await newLocation()]
    const { frozenAt } = await thaw(version, old)
    for (const location of [old, fresh]) {
      const { notifier } = frozenNotifier(location, frozenAt + LATER_MS - Date.now())
      await notifier.start({ deliver: false })
      await notifier.stop()
    }
    expect(
      await schemaOf(old),
      `Append a migration. Before ${version} is released, freeze it again instead: test/fixtures/README.md`,
    ).toEqual(await schemaOf(fresh))
  })

  it(`of ${version} shows its notifications, texts, people and webhook deliveries`, async () => {
    const { acme, facts, notifier } = await start()
    const { items } = await acme.notifications.list({ limit: 100 })
    expect(items.map(({ id, status, to }) => ({ id, status, to }))).toEqual(facts.notifications)
    const sent = await acme.notifications.get(facts.replay.id)
    expect(sent.timeline.map(({ event }) => event)).toEqual(['queued', 'sent'])
    const found = await acme.notifications.list({ metadata: { order: '4711' } })
    expect(found.items.map(({ id }) => id)).toEqual([facts.replay.id])
    expect((await acme.deadLetters.list()).items).toMatchObject([{ to: 'gone@example.com' }])
    expect((await acme.refusals.list()).items).toMatchObject([{ to: 'former@example.com' }])

    expect(await acme.templates.get('order')).toMatchObject({
      version: 2,
      html: '<p>Thank you, {{name}}!</p>',
    })
    expect(await acme.templates.version('order', 1)).toMatchObject({ html: '<p>Thank you!</p>' })
    expect(await acme.layouts.get('brand')).toMatchObject({ html: '<main>{{{content}}}</main>{{> footer}}' })
    expect(await acme.messages.get('de')).toMatchObject({ messages: { 'order.title': 'Bestellung {order}' } })

    expect(await acme.preferences.get({ recipient: 'user_7' })).toMatchObject({
      quietHours: { zone: 'Europe/Vienna', windows: [{ from: '22:00', to: '07:00' }] },
    })
    expect((await acme.suppressions.list()).items).toMatchObject([
      { to: 'former@example.com', reason: 'complaint' },
    ])
    expect(await notifier.organizations.get(facts.organization)).toMatchObject({
      plan: 'starter',
      branding: { color: '#2f4fd0' },
    })
    const actions = (await acme.auditLog.list({ limit: 100 })).items.map(({ action }) => action)
    expect(actions).toContain('api_key.created')

    const deliveries = async (endpoint: 'up' | 'down') =>
      (await acme.webhooks.deliveries(facts.endpoints[endpoint].id, { limit: 100 })).items
    for (const { status, attempts } of await deliveries('up')) {
      expect([status, attempts.map(({ status }) => status)]).toEqual(['delivered', [200]])
    }
    for (const { status, attempts } of await deliveries('down')) {
      expect([status, attempts.map(({ status }) => status)]).toEqual(['pending', [503]])
    }
    expect((await deliveries('down')).length).toBeGreaterThan(3)
  })

  it(`of ${version} replays an idempotency key and refuses suppressed addresses`, async () => {
    const { acme, facts } = await start()
    const { idempotencyKey, message, id } = facts.replay
    expect(await acme.send(message, { idempotencyKey })).toMatchObject({ id, replayed: true, status: 'sent' })
    await expect(
      acme.send({ ...message, to: 'other@example.com' }, { idempotencyKey }),
    ).rejects.toMatchObject({
      code: 'idempotency_key_reused',
    })
    await expect(acme.send({ ...message, to: 'Former@example.com' })).rejects.toMatchObject({
      code: 'blocked_recipient',
    })
  })

  it(`of ${version} knows its API keys`, async () => {
    const { notifier, facts } = await start()
    const answer = notifierFetch(notifier)
    const ask = async (key: string, path: string): Promise<number | undefined> => {
      const request = new Request(`https://api.example${path}`, {
        headers: { authorization: `Bearer ${key}` },
      })
      return (await answer(request, { remoteAddress: '127.0.0.1', encrypted: true }))?.status
    }
    const path = `/v1/notifications/${facts.replay.id}`
    expect(await ask(facts.apiKey, path)).toBe(200)
    expect(await ask(`${facts.apiKey.slice(0, -1)}_`, path)).toBe(401)
    expect(await ask(facts.operatorKey, '/v1/organizations')).toBe(200)
    expect(await ask(facts.apiKey, '/v1/organizations')).not.toBe(200)
  })

  it(`of ${version} delivers what waits: messages, and events with the old secret`, async () => {
    const receiver = await httpReceiver((response) => response.end())
    onTestFinished(() => receiver.close())
    const before = await start()
    const { endpoints, waiting } = before.facts
    const url = `http://127.0.0.1:${receiver.port}/`
    await before.acme.webhooks.update(endpoints.down.id, { url })
    await before.acme.webhooks.update(endpoints.up.id, { status: 'disabled' })
    const due = (await before.acme.webhooks.deliveries(endpoints.down.id, { limit: 100 })).items
    await before.notifier.stop()

    const after = before.again()
    await after.notifier.start()
    await eventually(() => after.sent.length >= Object.keys(waiting).length)
    await eventually(() => receiver.requests.length >= due.length + after.sent.length)
    expect(Object.fromEntries(after.sent.map(({ to, body }) => [to, body]))).toEqual(waiting)
    const ids = receiver.requests.map(({ body, headers }) => {
      verifyWebhook(body, headers, endpoints.down.secret, { now: after.now })
      return headers['webhook-id']
    })
    expect(ids).toEqual(expect.arrayContaining(due.map(({ eventId }) => eventId)))
  })

  it(`of ${version} retries a failure, sends from a stored template and erases a person`, async () => {
    const before = await start()
    const { facts } = before
    for (const { id } of Object.values(facts.endpoints))
      await before.acme.webhooks.update(id, { status: 'disabled' })
    await before.notifier.stop()

    const { notifier, sent } = before.again()
    await notifier.start()
    const acme = notifier.organization(facts.organization)
    const [dead] = (await acme.deadLetters.list()).items
    await acme.notifications.retry(dead?.id ?? '')
    await eventually(() => sent.some(({ to }) => to === 'gone@example.com'))
    const { id } = await acme.send({ ...facts.replay.message, to: 'zoe@example.com', locale: 'de' })
    expect(await acme.waitFor(id)).toMatchObject({ status: 'sent' })
    expect(sent.find(({ to }) => to === 'zoe@example.com')).toMatchObject({ subject: 'Bestellung 4711' })

    const ada = { channel: 'email', to: 'ada@example.com' } as const
    const exported = async (): Promise<number> => {
      const lines = []
      for await (const line of await acme.people.export(ada)) lines.push(line)
      return lines.length
    }
    expect(await exported()).toBeGreaterThan(0)
    expect(await acme.people.erase(ada)).toMatchObject({ counts: { notifications: 2 } })
    expect(await exported()).toBe(0)
    expect(await acme.notifications.get(facts.replay.id)).toMatchObject({ to: '(erased)', status: 'sent' })
  })
})
