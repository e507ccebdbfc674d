import { afterAll, beforeAll, expect, it } from 'vitest'
import type { SendInput } from '../../../src/core/accept/input.ts'
import type { QuietWindow } from '../../../src/core/notification/quiet-hours.ts'
import { fakeClock } from '../../../src/testing/fake-clock.ts'
import { recordingProvider } from '../../../src/testing/recording-provider.ts'
import { type Answer, codeOf } from '../../support/http-client.ts'
import { type Host, startHost } from '../../support/rest-host.ts'

const ada = { channel: 'email', to: 'ada@example.com' } as const
const night: QuietWindow = { from: '22:00', to: '07:00' }
const clock = fakeClock(Date.parse('2026-03-01T12:00:00Z'))

let host: Host
let headers: { authorization: string }

beforeAll(async () => {
  host = await startHost({
    clock,
    moreChannels: { sms: recordingProvider(), push: recordingProvider() },
    recipients: { resolve: (ids) => new Map(ids.map((id) => [id, { channels: { email: ada.to } }])) },
  })
  headers = await host.key()
})
afterAll(() => host.close())

const call = (method: string, path: string, body?: object): Promise<Answer> =>
  host.call({ method, path, headers, body })

interface Mistake {
  readonly code: string
  readonly field?: string
  readonly says: RegExp
}

/** The same is refused in code and over REST, with the same words. */
async function refused({ code, field, says }: Mistake, inCode: Promise<unknown>, overRest: Promise<Answer>) {
  const thrown = await inCode.then(
    () => null,
    (error: unknown) => error,
  )
  expect(thrown).toMatchObject({ code, message: expect.stringMatching(says) })
  if (field !== undefined) expect(thrown).toMatchObject({ details: { field } })
  const answer = await overRest
  expect([answer.status, codeOf(answer)]).toEqual([(thrown as { status: number }).status, code])
  expect(answer.json).toMatchObject({ error: { message: (thrown as Error).message } })
}

it.each<[string, object, string, RegExp]>([
  ['a zone that does not exist', { zone: 'Europe/Zürich', windows: [night] }, 'zone', /IANA time zone/],
  ['an offset as a zone', { zone: '+01:00', windows: [night] }, 'zone', /not an offset/],
  [
    'a window of zero length or of all day',
    { windows: [{ from: '07:00', to: '07:00' }] },
    'windows.0.to',
    /of zero length or of all day/,
  ],
  ['a weekday twice', { windows: [{ ...night, days: ['mon', 'mon'] }] }, 'windows.0.days', /each day once/],
  [
    'a date that no calendar has',
    { windows: [night], except: ['2026-02-30'] },
    'except.0',
    /a date that exists/,
  ],
])('%s is named', async (_, wrong, field, says) => {
  const quietHours = { zone: 'Europe/Zurich', windows: [night], ...wrong }
  const mistake = { code: 'invalid_parameter', field: `quietHours.${field}`, says }
  const { preferences, categories } = host.notifier
  const inUrl = '/v1/preferences?channel=email&to=ada%40example.com'
  await refused(mistake, preferences.change(ada, { quietHours }), call('PATCH', inUrl, { quietHours }))
  const news = { id: 'news', name: 'News', quietHours }
  await refused(mistake, categories.create(news), call('POST', '/v1/categories', news))
})

it('a local time is named: on a day whose clocks skip it, none could be meant', async () => {
  const sendAt = '2026-03-29T02:30:00'
  const mistake = { code: 'invalid_parameter', field: 'sendAt', says: /with a zone/ }
  const { send, notifications } = host.notifier
  const message = { ...ada, body: 'Hi', sendAt }
  await refused(mistake, send(message), call('POST', '/v1/notify', message))
  const { id } = await send({ ...message, sendAt: '2026-03-29T01:00:00Z' })
  const moved = call('POST', `/v1/notifications/${id}/reschedule`, { sendAt })
  await refused(mistake, notifications.reschedule(id, { sendAt }), moved)
})

it('a message that can no longer be moved is named, and why', async () => {
  const { notifier } = host
  const message = { ...ada, body: 'Hi' }
  const sendAt = new Date(clock.now() + 3_600_000)
  const cannot = async (id: string, says: RegExp) => {
    const moved = notifier.notifications.reschedule(id, { sendAt })
    const path = `/v1/notifications/${id}/reschedule`
    await refused({ code: 'not_reschedulable', says }, moved, call('POST', path, { sendAt }))
  }
  const cancelled = await notifier.send({ ...message, sendAt })
  await notifier.notifications.cancel(cancelled.id)
  await cannot(cancelled.id, /it has ended/)

  const quietHours = { zone: 'UTC', windows: [{ from: '12:00', to: '18:00' }] }
  await notifier.preferences.change(ada, { quietHours })
  const quiet = await notifier.send(message)
  await cannot(quiet.id, /its status is not scheduled\. Only a message sent with a "sendAt" ahead is/)
  await notifier.preferences.change(ada, { quietHours: null })

  const often = await notifier.send({ ...message, sendAt })
  for (let time = 0; time < 100; time += 1) await notifier.notifications.reschedule(often.id, { sendAt })
  await cannot(often.id, /more than 100 times\. Cancel it and send a new message/)
})

it('channels are named that do not fit the message, and no address ends it visibly', async () => {
  const { notifier } = host
  const message = (change: object) => ({ recipient: 'ada', channels: ['sms', 'push'], text: 'Hi', ...change })
  const send = (wrong: object) =>
    [notifier.send(wrong as SendInput), call('POST', '/v1/notify', wrong)] as const
  const of = (code: string, field: string, says: RegExp): Mistake => ({ code, field, says })
  await refused(of('invalid_parameter', 'channels', /at least|1 to 8/), ...send(message({ channels: [] })))
  await refused(
    of('invalid_channel', 'channels', /slack is not configured here/),
    ...send(message({ channels: ['sms', 'slack'] })),
  )
  await refused(
    of('missing_required_field', 'recipient', /recipient/),
    ...send(message({ recipient: undefined, to: ada.to })),
  )

  const { json } = await call('POST', '/v1/notify', message({}))
  expect(json).toMatchObject({ status: 'queued', channel: 'sms', to: '' })
  const [told] = await notifier.explain(message({}) as SendInput)
  expect(told).toMatchObject({ to: null, decidedBy: 'address' })
  expect(told?.gates.find(({ gate }) => gate === 'address')).toMatchObject({ code: 'no_address' })
  await clock.advance(1_000)
  const ended = await call('GET', `/v1/notifications/${json?.id}`)
  expect(ended.json).toMatchObject({ status: 'skipped', error: { code: 'no_address' } })
})
