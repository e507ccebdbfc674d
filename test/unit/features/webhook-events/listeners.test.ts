import { describe, expect, it } from 'vitest'
import type { EventHandler } from '../../../../src/core/delivery/listeners.ts'
import { createNotifier } from '../../../../src/create-notifier.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { organization, page } from '../../../../src/testing/storage/fixtures.ts'
import { mail, notifierWorld } from '../../../support/notifier-world.ts'

const HOUR = 3_600_000
const MIRROR = 'wh_listener.mirror'

/** A notifier with a listener for `notification.sent`. */
async function listening(handler: EventHandler, options: { timeoutMs?: number; concurrency?: number } = {}) {
  const world = notifierWorld()
  const channels = { email: recordingProvider() }
  const notifier = await world.start({ channels })
  await notifier.allOrganizations.listen('mirror', handler, options)
  const { webhooks } = notifier.allOrganizations
  return {
    ...world,
    channels,
    notifier,
    webhooks,
    send: async (organizationId = 'org_default') =>
      (await notifier.organization(organizationId).send(mail)).id,
    deliveries: async () => [...(await webhooks.deliveries(MIRROR)).items].reverse(),
  }
}

const eventOf = (id: string): string => `evt_${id.slice('notif_'.length)}_2`

describe('a listener', () => {
  it('is neither registered nor forgotten while the service is under maintenance', async () => {
    const got: string[] = []
    const { clock, notifier, send, webhooks } = await listening(({ event }) => {
      got.push(event)
    })
    await notifier.maintenance(true)
    const { listen, forget } = notifier.allOrganizations
    await expect(listen('other', () => {})).rejects.toMatchObject({ code: 'service_unavailable' })
    await expect(forget('mirror')).rejects.toMatchObject({ code: 'service_unavailable' })
    await notifier.maintenance(false)
    expect((await webhooks.list()).items.map(({ id }) => id)).toEqual([MIRROR])
    await send()
    await clock.advance(HOUR)
    expect(got).toEqual(['notification.sent'])
  })

  it('gets the events of every organization, with their ids', async () => {
    const got: unknown[] = []
    const { clock, storage, send, deliveries } = await listening(
      ({ event, data }, { id, attempt, signal }) => {
        got.push([event, data.organizationId, data.id, id, attempt, signal.aborted])
      },
    )
    const [a, b] = [await organization(storage), await organization(storage)]
    const ids = [await send(a), await send(b), await send()]
    await clock.advance(HOUR)
    const wanted = [a, b, 'org_default'].map((organizationId, index) => {
      const id = ids[index] ?? ''
      return ['notification.sent', organizationId, id, eventOf(id), 1, false]
    })
    expect(got.sort()).toEqual(wanted.sort())
    for (const { status, attempts } of await deliveries())
      expect([status, attempts]).toEqual([
        'delivered',
        [expect.objectContaining({ attempt: 1, status: null, response: '', succeeded: true, request: null })],
      ])
  })

  it('gets an event again while its function rejects, and not after it has failed', async () => {
    const got: unknown[] = []
    const { clock, errors, send, deliveries, webhooks } = await listening(async (_event, { id, attempt }) => {
      got.push([id, attempt])
      throw new Error('The warehouse is away.')
    })
    const id = eventOf(await send())
    await clock.advance(60 * HOUR)
    expect(got).toEqual([1, 2, 3, 4, 5, 6, 7, 8].map((attempt) => [id, attempt]))
    const [failed] = await deliveries()
    expect(failed).toMatchObject({ eventId: id, status: 'failed' })
    expect(failed?.attempts.map(({ response, succeeded }) => [response, succeeded])).toEqual(
      Array(8).fill(['The warehouse is away.', false]),
    )
    expect(errors.map(({ message }) => message)).toContain(
      'The listener "mirror" failed. Its events come again, and fail after their last attempt.',
    )
    // A fault of the application's own code disables nothing.
    await clock.advance(10 * 24 * HOUR)
    expect(await webhooks.get(MIRROR)).toMatchObject({ status: 'active', failingSince: null })
    expect(await webhooks.redeliver(MIRROR, { since: new Date(0) })).toEqual({ redelivered: 1 })
    await clock.advance(1_000)
    expect(got.at(-1)).toEqual([id, 1])
  })

  it('that hangs gets the event again after its time, and its signal aborts', async () => {
    const signals: AbortSignal[] = []
    const { clock, send, deliveries } = await listening(
      (_event, { signal }) => {
        signals.push(signal)
        return signals.length === 1 ? new Promise(() => {}) : null
      },
      { timeoutMs: 10_000 },
    )
    await send()
    await clock.advance(9_000)
    expect(signals.map(({ aborted }) => aborted)).toEqual([false])
    await clock.advance(20_000)
    expect(signals.map(({ aborted }) => aborted)).toEqual([true, false])
    expect(await deliveries()).toMatchObject([
      {
        status: 'delivered',
        attempts: [
          { response: 'The handler has not fulfilled within 10000 ms.', succeeded: false },
          { succeeded: true },
        ],
      },
    ])
  })

  it('that throws at once, or anything, fails alike', async () => {
    const thrown: unknown[] = ['text', null, new Error('x'.repeat(5_000)), undefined]
    const { clock, send, deliveries } = await listening((_event, { attempt }) => {
      if (attempt <= thrown.length) throw thrown[attempt - 1]
    })
    await send()
    await clock.advance(24 * HOUR)
    const [delivery] = await deliveries()
    const other = 'A value that is not an Error was thrown.'
    expect(delivery?.attempts.map(({ response }) => response)).toEqual([
      'text',
      other,
      'x'.repeat(2_048),
      other,
      '',
    ])
  })

  it('gets at most as many events at once as it chose', async () => {
    let [running, most, done] = [0, 0, 0]
    const { clock, send } = await listening(
      async () => {
        running += 1
        most = Math.max(most, running)
        await new Promise<void>((resolve) => clock.timer(1_000, resolve))
        running -= 1
        done += 1
      },
      { concurrency: 2 },
    )
    for (let count = 0; count < 7; count += 1) await send()
    await clock.until(() => done === 7, HOUR)
    expect(most).toBe(2)
  })

  it('gets what happened while no process had registered it', async () => {
    const got: string[] = []
    const first = await listening(() => {})
    await first.notifier.stop()
    const other = await first.start({ channels: first.channels })
    const { id } = await other.send(mail)
    await first.clock.advance(30 * HOUR)
    const { waiting, status } = await other.health()
    expect([waiting, status]).toEqual([[{ lane: MIRROR, reason: 'not_registered' }], 'ok'])
    expect(await other.allOrganizations.webhooks.deliveries(MIRROR)).toMatchObject({
      items: [{ status: 'pending', attempts: [] }],
    })
    const { backlog } = await other.metrics()
    expect(backlog?.lanes).toMatchObject([{ lane: null, due: 1 }])
    await other.allOrganizations.listen('mirror', (_event, { id }) => void got.push(id))
    await first.clock.advance(1_000)
    expect(got).toEqual([eventOf(id)])
    expect((await other.health()).waiting).toEqual([])
  })

  it('registered before the start is subscribed by it, also without delivery', async () => {
    const world = notifierWorld()
    const { clock, storage } = world
    const notifier = createNotifier({ clock, storage, channels: { email: recordingProvider() } })
    await notifier.allOrganizations.listen('mirror', () => {}, { events: ['notification.failed'] })
    await notifier.start({ deliver: false })
    const listed = await notifier.allOrganizations.webhooks.list()
    expect(listed.items).toMatchObject([
      { id: MIRROR, url: 'listener:mirror', events: ['notification.failed'], status: 'active' },
    ])
    await notifier.stop()
    await expect(notifier.allOrganizations.listen('other', () => {})).rejects.toMatchObject({
      code: 'service_unavailable',
    })
  })

  it('takes the events of its newest registration', async () => {
    const { notifier, start, channels, webhooks } = await listening(() => {})
    const events = ['message.received', 'notification.sent'] as const
    const other = await start({ channels })
    await other.allOrganizations.listen('mirror', () => {}, { events: [...events, 'message.received'] })
    expect((await webhooks.get(MIRROR)).events).toEqual(events)
    expect((await notifier.allOrganizations.webhooks.list()).items).toHaveLength(1)
  })

  it('ends with its waiting events, and may begin anew', async () => {
    const got: string[] = []
    const { clock, notifier, send, webhooks } = await listening(() => Promise.reject(new Error('away')))
    await send()
    await clock.advance(1_000)
    await notifier.allOrganizations.forget('mirror')
    await expect(webhooks.get(MIRROR)).rejects.toMatchObject({ code: 'not_found' })
    await send()
    await clock.advance(HOUR)
    await notifier.allOrganizations.listen('mirror', (_event, { id }) => void got.push(id))
    const id = await send()
    await clock.advance(HOUR)
    expect(got).toEqual([eventOf(id)])
    await expect(notifier.allOrganizations.forget('other')).rejects.toMatchObject({
      code: 'not_found',
      message: 'No listener has the name "other".',
    })
  })

  it('that runs is waited for by a stop, and aborted at its deadline', async () => {
    const signals: AbortSignal[] = []
    let finish = (): void => {}
    const { clock, notifier, send, storage } = await listening(
      (_event, { signal }) => {
        signals.push(signal)
        return new Promise<void>((resolve) => {
          if (signals.length === 1) finish = resolve
        })
      },
      { timeoutMs: HOUR },
    )
    await send()
    await send()
    await clock.advance(1_000)
    expect(signals).toHaveLength(2)
    let stopped = false
    const stop = notifier.stop({ timeoutMs: 20_000 }).then(() => {
      stopped = true
    })
    await clock.advance(10_000)
    expect([stopped, signals[0]?.aborted]).toEqual([false, false])
    finish()
    await clock.advance(20_000)
    await stop
    expect(signals[1]?.aborted).toBe(true)
    const { items } = await storage.webhookEndpoints.deliveries({ endpointId: MIRROR }, page())
    expect(items.map(({ state }) => state).sort()).toEqual(['delivered', 'pending'])
  })

  it.each<[field: string, message: RegExp, input: readonly unknown[]]>([
    ['name', /1 to 60 lower-case/, ['My mirror', () => {}]],
    ['name', /1 to 60 lower-case/, ['-a', () => {}]],
    ['name', /1 to 60 lower-case/, [undefined, () => {}]],
    ['name', /another one/, ['mirror', () => {}]],
    ['handler', /a function/, ['other']],
    ['events.0', /notification\.sent/, ['other', () => {}, { events: ['notification.send'] }]],
    ['events', /./, ['other', () => {}, { events: [] }]],
    ['concurrency', /./, ['other', () => {}, { concurrency: 0 }]],
    ['timeoutMs', /./, ['other', () => {}, { timeoutMs: 3_600_001 }]],
  ])('with a wrong %s is refused: %s %j', async (field, message, input) => {
    const { notifier, webhooks } = await listening(() => {})
    await expect(Reflect.apply(notifier.allOrganizations.listen, undefined, input)).rejects.toMatchObject({
      code: 'invalid_parameter',
      message: expect.stringMatching(message),
      details: { field },
    })
    expect((await webhooks.list()).items).toHaveLength(1)
  })

  it('has no address that could change, be tested or sign', async () => {
    const { webhooks } = await listening(() => {})
    const refused = { code: 'invalid_parameter', details: { field: 'id' } }
    await expect(webhooks.update(MIRROR, { url: 'https://example.com/' })).rejects.toMatchObject(refused)
    await expect(webhooks.update(MIRROR, { events: ['notification.sent'] })).rejects.toMatchObject(refused)
    await expect(webhooks.rotateSecret(MIRROR)).rejects.toMatchObject(refused)
    await expect(webhooks.test(MIRROR)).rejects.toMatchObject(refused)
    expect(await webhooks.update(MIRROR, { status: 'disabled' })).toMatchObject({ status: 'disabled' })
  })

  it('counts as one of the fifty endpoints of operators', async () => {
    const { notifier, webhooks } = await listening(() => {})
    for (let count = 0; count < 49; count += 1) await webhooks.create({ url: 'https://example.com/' })
    await expect(notifier.allOrganizations.listen('other', () => {})).rejects.toMatchObject({
      code: 'endpoint_limit_reached',
    })
    await webhooks.delete((await webhooks.list()).items[0]?.id ?? '')
    await notifier.allOrganizations.listen('other', () => {})
  })
})

describe('endpoints of operators', () => {
  it('are unknown to organizations, as are their deliveries', async () => {
    const { clock, notifier, send } = await listening(() => {})
    const { id } = await notifier.allOrganizations.webhooks.create({ url: 'https://example.com/' })
    const sent = await send()
    await clock.advance(1_000)
    const { webhooks, notifications } = notifier
    expect((await webhooks.list()).items).toEqual([])
    expect((await notifications.webhookDeliveries(sent)).items).toEqual([])
    for (const each of [id, MIRROR]) {
      const unknown = { code: 'not_found' }
      await expect(webhooks.get(each)).rejects.toMatchObject(unknown)
      await expect(webhooks.update(each, { status: 'disabled' })).rejects.toMatchObject(unknown)
      await expect(webhooks.deliveries(each)).rejects.toMatchObject(unknown)
      await expect(webhooks.redeliver(each, { since: new Date() })).rejects.toMatchObject(unknown)
      await expect(webhooks.redeliverOne(each, eventOf(sent))).rejects.toMatchObject(unknown)
      await expect(webhooks.delete(each)).rejects.toMatchObject(unknown)
    }
    const own = await webhooks.create({ url: 'https://example.com/' })
    await expect(notifier.allOrganizations.webhooks.get(own.id)).rejects.toMatchObject({
      code: 'organization_mismatch',
    })
  })
})
