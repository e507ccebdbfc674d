import { afterEach, expect, it } from 'vitest'
import { fakeClock } from '../../../src/testing/fake-clock.ts'
import { type Host, startHost } from '../../support/rest-host.ts'

const MORNING = '2026-01-16T06:00:00.000Z'
const mail = { channel: 'email', to: 'ada@example.com', body: 'Hi' } as const

let host: Host
afterEach(() => host.close())

it('quiet hours, and that a message expires in them, are explained over REST', async () => {
  host = await startHost({ clock: fakeClock(Date.parse('2026-01-15T23:00:00Z')) })
  const headers = await host.key()
  const ask = async (method: string, path: string, body?: object, more: object = {}) =>
    (await host.call({ method, path, headers: { ...headers, ...more }, body })).json
  const quietHours = { zone: 'Europe/Zurich', windows: [{ from: '22:00', to: '07:00' }] }
  await ask('PATCH', '/v1/preferences?channel=email&to=ada%40example.com', { quietHours })
  const short = { ...mail, expiresAt: '2026-01-16T00:00:00.000Z' }

  const delayed = { until: MORNING, message: 'Quiet hours until 07:00 (Europe/Zurich).' }
  const test = { 'x-test-mode': 'true' }
  for (const [message, expires] of [
    [mail, false],
    [short, true],
  ] as const)
    expect(await ask('POST', '/v1/notify', message, test)).toMatchObject({
      delayed: { ...delayed, expires },
    })

  const waits = { gate: 'preferences', result: 'waits', until: MORNING, message: delayed.message }
  const expiry = {
    gate: 'expiry',
    result: 'failed',
    code: 'expired',
    message: `It expires at ${short.expiresAt}, before "preferences" lets it go at ${MORNING}.`,
  }
  for (const [message, decidedBy] of [
    [mail, 'preferences'],
    [short, 'expiry'],
  ] as const) {
    const gates = expect.arrayContaining(
      [waits, ...(decidedBy === 'expiry' ? [expiry] : [])].map((gate) => expect.objectContaining(gate)),
    )
    const told = await ask('POST', '/v1/explain', message)
    expect(told?.explanations).toMatchObject([{ id: null, decidedBy, gates }])
    const sent = await ask('POST', '/v1/notify', message)
    const stored = await ask('GET', `/v1/notifications/${sent?.id}/explain`)
    expect(stored).toMatchObject({ id: sent?.id, status: 'queued', decidedBy, gates })
  }
})
