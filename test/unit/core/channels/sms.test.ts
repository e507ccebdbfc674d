import { describe, expect, it, onTestFinished } from 'vitest'
import { organizationKind } from '../../../../src/core/tenancy/organization.ts'
import { createNotifier } from '../../../../src/create-notifier.ts'
import type { NotifierOptions } from '../../../../src/options.ts'
import { fakeClock } from '../../../../src/testing/fake-clock.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { inMemory } from '../../../support/in-memory.ts'
import { watchReads } from '../../../support/record-reads.ts'

const GERMAN = '+4915112345678'
const SWISS = '+41791234567'
const JAMAICAN = '+18762345678'
const AMERICAN = '+14155550123'
const sms = { channel: 'sms', to: GERMAN } as const

async function start(options: Partial<NotifierOptions> = {}, deliver = false) {
  const clock = fakeClock()
  const storage = inMemory(clock)
  const provider = recordingProvider()
  const notifier = createNotifier({
    channels: { sms: provider, email: recordingProvider() },
    storage,
    clock,
    ...options,
  })
  await notifier.start({ deliver })
  onTestFinished(() => notifier.stop())
  return { clock, storage, provider, notifier }
}

describe('segments', () => {
  it('are told before a text message is sent, and of nothing else', async () => {
    const { notifier } = await start()
    const body = 'Your code, {{name}}: {{code}}'
    await notifier.templates.create({ name: 'code', channel: 'sms', body })
    await notifier.templates.create({ name: 'mail', channel: 'email', body })
    const ada = { name: 'Ada', code: 1234 }
    expect(await notifier.templates.preview('code', ada)).toEqual({
      subject: null,
      body: 'Your code, Ada: 1234',
      format: 'text',
      sms: { encoding: 'gsm-7', segments: 1, characters: 20 },
      placeholders: [
        { name: 'name', required: true, type: 'text' },
        { name: 'code', required: true, type: 'text' },
      ],
    })
    expect(await notifier.templates.preview('mail', ada)).not.toHaveProperty('sms')
    const long = { ...sms, body: `${'a'.repeat(70)}ш` }
    expect((await notifier.validate(long)).rendered.sms).toEqual({
      encoding: 'ucs-2',
      segments: 2,
      characters: 71,
    })
    const mail = await notifier.validate({ channel: 'email', to: 'ada@example.com', body: 'Hello' })
    expect(mail.rendered).not.toHaveProperty('sms')
  })

  it('are limited at accept, whether the text is literal or from a template, alone or in a batch', async () => {
    const { notifier } = await start({ sms: { maxSegments: 2 } })
    await notifier.templates.create({ name: 'note', channel: 'sms', body: 'Note: {{text}}' })
    const template = (text: string) => ({ to: GERMAN, template: 'note', variables: { text } })
    const tooLong = { code: 'message_too_large', details: { segments: 3, maxSegments: 2 } }
    await notifier.send({ ...sms, body: 'a'.repeat(306) })
    await notifier.send(template('a'.repeat(300)))
    await expect(notifier.send({ ...sms, body: 'a'.repeat(307) })).rejects.toMatchObject(tooLong)
    await expect(notifier.send(template('a'.repeat(301)))).rejects.toMatchObject(tooLong)
    await expect(notifier.validate(template('a'.repeat(301)))).rejects.toMatchObject(tooLong)
    const { items } = await notifier.sendBatch([template('short'), { ...sms, body: '€'.repeat(153) }])
    expect(items).toMatchObject([{ status: 'queued' }, { error: tooLong }])
    await notifier.send({ channel: 'email', to: 'ada@example.com', body: 'a'.repeat(10_000) })
  })

  it('are ten at most unless the option says otherwise', async () => {
    const { notifier } = await start()
    await notifier.send({ ...sms, body: 'a'.repeat(1530) })
    await expect(notifier.send({ ...sms, body: 'a'.repeat(1531) })).rejects.toMatchObject({
      code: 'message_too_large',
      status: 422,
    })
    for (const maxSegments of [0, 1.5, 256, '3' as never])
      expect(() => createNotifier({ channels: {}, sms: { maxSegments } })).toThrow('sms.maxSegments')
  })

  it('are limited once more where the text is rendered, and the provider is not asked', async () => {
    const { notifier, storage, clock } = await start({ sms: { maxSegments: 5 } })
    await notifier.templates.create({ name: 'note', channel: 'sms', body: '{{text}}' })
    const { id } = await notifier.send({ to: GERMAN, template: 'note', variables: { text: 'a'.repeat(500) } })
    const strict = recordingProvider()
    const other = createNotifier({ channels: { sms: strict }, storage, clock, sms: { maxSegments: 3 } })
    await other.start()
    onTestFinished(() => other.stop())
    await clock.advance(2_000)
    expect(await other.notifications.get(id)).toMatchObject({
      status: 'failed',
      error: { code: 'message_too_large' },
    })
    expect(strict.calls).toEqual([])
  })

  it('are in the history and the log of what was handed over', async () => {
    const { notifier, clock } = await start({}, true)
    const text = await notifier.send({ ...sms, body: 'a'.repeat(161) })
    const mail = await notifier.send({ channel: 'email', to: 'ada@example.com', body: 'a'.repeat(161) })
    await clock.advance(0)
    const { timeline } = await notifier.notifications.get(text.id)
    expect(timeline.map(({ event, segments }) => [event, segments])).toEqual([
      ['queued', null],
      ['sent', 2],
    ])
    const log = await notifier.logs.list()
    const sent = log.items.filter(({ event }) => event === 'sent')
    expect(sent.map(({ notificationId, segments }) => [notificationId, segments]).sort()).toEqual(
      [
        [text.id, 2],
        [mail.id, null],
      ].sort(),
    )
  })
})

describe('countries', () => {
  const refused = { code: 'region_not_permitted', status: 422, details: { field: 'to' } }
  const message = (to: string) => ({ channel: 'sms', to, body: 'Hello' }) as const

  it('are all permitted unless the organization says otherwise', async () => {
    const { notifier } = await start()
    expect(await notifier.organizations.create({ id: 'org_a', name: 'A' })).toMatchObject({
      smsCountries: null,
    })
    for (const to of [GERMAN, SWISS, AMERICAN]) await notifier.organization('org_a').send(message(to))
  })

  it('are checked in every unit in which a text message is accepted', async () => {
    const { notifier } = await start()
    const tenant = notifier.organization('org_a')
    await notifier.organizations.create({ id: 'org_a', name: 'A', smsCountries: ['+49', '+1876'] })
    await tenant.templates.create({ name: 'note', channel: 'sms', body: 'Hello' })
    for (const to of [GERMAN, JAMAICAN]) await tenant.send(message(to))
    for (const to of [SWISS, AMERICAN]) {
      await expect(tenant.send(message(to))).rejects.toMatchObject(refused)
      await expect(tenant.send({ to, template: 'note' })).rejects.toMatchObject(refused)
      await expect(tenant.validate(message(to))).rejects.toMatchObject(refused)
    }
    const mail = { channel: 'email', to: 'ada@example.com', body: 'Hello' } as const
    const { items } = await tenant.sendBatch([message(GERMAN), message(SWISS), mail])
    expect(items).toMatchObject([
      { status: 'queued' },
      { error: { code: 'region_not_permitted' } },
      { status: 'queued' },
    ])
    await notifier.send(message(SWISS))
  })

  it('decide again before an attempt', async () => {
    const { notifier, clock } = await start({}, true)
    const { id: organizationId } = await notifier.organizations.create({ name: 'A' })
    const sendAt = new Date(clock.now() + 60_000)
    const { id } = await notifier.organization(organizationId).send({ ...message(SWISS), sendAt })
    await notifier.organizations.update(organizationId, { smsCountries: ['+49'] })
    await clock.advance(60_000)
    const failed = await clock.until(async () => {
      const found = await notifier.organization(organizationId).notifications.get(id)
      return found.status === 'failed' ? found : null
    })
    expect(failed.error?.code).toBe('region_not_permitted')
  })

  it('change at once, and then decide over a resend, too', async () => {
    const { notifier } = await start()
    const { id: organizationId } = await notifier.organizations.create({ name: 'A' })
    const { id } = await notifier.organization(organizationId).send(message(SWISS))
    const set = (smsCountries: readonly string[] | null) =>
      notifier.organizations.update(organizationId, { smsCountries })
    expect(await set(['+49'])).toMatchObject({ smsCountries: ['+49'] })
    await expect(notifier.organization(organizationId).send(message(SWISS))).rejects.toMatchObject(refused)
    await expect(notifier.organization(organizationId).notifications.resend(id)).rejects.toMatchObject(
      refused,
    )
    await set([])
    await expect(notifier.organization(organizationId).send(message(GERMAN))).rejects.toMatchObject(refused)
    await notifier.organizations.update(organizationId, { name: 'B' })
    await expect(notifier.organization(organizationId).send(message(GERMAN))).rejects.toMatchObject(refused)
    await set(null)
    await notifier.organization(organizationId).notifications.resend(id)
  })

  it.each(['49', '+', '+4', '+49151', '+999', '+1187', 'DE', '', 49])(
    'are no calling code: %s',
    async (code) => {
      const { notifier } = await start()
      const smsCountries = [code as string]
      await expect(notifier.organizations.create({ name: 'A', smsCountries })).rejects.toMatchObject({
        code: 'invalid_parameter',
      })
      await expect(notifier.organizations.update('org_default', { smsCountries })).rejects.toMatchObject({
        code: 'invalid_parameter',
      })
    },
  )

  it('cost the accept no look-up of their own', async () => {
    const count = async (send: 'sms' | 'email') => {
      const { notifier, storage } = await start()
      const reads = watchReads(storage, organizationKind)
      const to = send === 'sms' ? GERMAN : 'ada@example.com'
      for (let sends = 0; sends < 5; sends += 1) await notifier.send({ channel: send, to, body: 'Hello' })
      await notifier.sendBatch([{ channel: send, to, body: 'Hello' }])
      return reads.length
    }
    expect(await count('sms')).toBe(await count('email'))
  })
})

it('goes to numbers of the numbering plans alone, where the option says so', async () => {
  const unassigned = { ...sms, to: '+15551234567', body: 'Hello' }
  await (await start()).notifier.send(unassigned)
  const { notifier } = await start({ sms: { numbers: 'valid' } })
  await notifier.send({ ...sms, body: 'Hello' })
  await expect(notifier.send(unassigned)).rejects.toMatchObject({ code: 'invalid_phone' })
  const wrong = { numbers: 'strict' } as unknown as { numbers: 'valid' }
  await expect(start({ sms: wrong })).rejects.toMatchObject({
    code: 'invalid_configuration',
    details: { option: 'sms.numbers' },
  })
})
