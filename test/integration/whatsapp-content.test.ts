import { describe, expect, it, onTestFinished } from 'vitest'
import { twilioWhatsApp } from '../../adapters/channels/twilio/send.ts'
import { type WhatsAppContent, whatsapp } from '../../adapters/channels/whatsapp/send.ts'
import { createNotifier } from '../../src/index.ts'
import { providerServer } from '../../src/testing/channel/provider-server.ts'
import { sendContext } from '../support/channel-context.ts'
import { inMemory } from '../support/in-memory.ts'
import { ACCOUNT, created } from '../support/twilio.ts'

/* Media and senders of WhatsApp messages, through both vendors. */

const TO = '+4915112345678'
const OTHER = '+14155238886'
const LINK = 'https://cdn.example.com/a'

async function world() {
  const meta = await providerServer({
    accept: () => ({ status: 200, body: { messages: [{ id: 'wamid.1' }] } }),
  })
  const twilio = await providerServer({ accept: created })
  const over = {
    meta: whatsapp({
      accessToken: 'token',
      phoneNumberId: '17',
      baseUrl: meta.url,
      senders: { [OTHER]: '18' },
    }),
    twilio: twilioWhatsApp({
      accountSid: ACCOUNT,
      authToken: 'a-secret-token',
      baseUrl: twilio.url,
      from: '+14155550100',
      senders: [OTHER],
    }),
  }
  const notifier = createNotifier({ storage: inMemory(), channels: { whatsapp: over.meta } })
  onTestFinished(async () => {
    await notifier.stop()
    await over.twilio.close?.()
    await meta.close()
    await twilio.close()
  })
  await notifier.start()
  const send = (parts: WhatsAppContent, body?: string) =>
    notifier.send({ channel: 'whatsapp', to: TO, ...(body === undefined ? {} : { body }), whatsapp: parts })
  const hand = (vendor: 'meta' | 'twilio', parts: WhatsAppContent, body = '') =>
    over[vendor].send({ to: TO, subject: null, body, format: 'text', whatsapp: parts }, sendContext())
  return { meta, twilio, send, hand }
}

describe('media', () => {
  it.each<[NonNullable<WhatsAppContent['media']>, string, object]>([
    [{ type: 'image', link: LINK }, 'Look', { type: 'image', image: { link: LINK, caption: 'Look' } }],
    [{ type: 'video', link: LINK }, '', { type: 'video', video: { link: LINK } }],
    [{ type: 'audio', link: LINK }, '', { type: 'audio', audio: { link: LINK } }],
    [
      { type: 'document', link: LINK, filename: 'Order 42.pdf' },
      'Yours',
      { type: 'document', document: { link: LINK, caption: 'Yours', filename: 'Order 42.pdf' } },
    ],
  ])('reach both vendors: %j', async (media, body, expected) => {
    const { meta, twilio, hand } = await world()
    for (const vendor of ['meta', 'twilio'] as const)
      expect(await hand(vendor, { media }, body)).toMatchObject({ kind: 'accepted' })
    expect(JSON.parse(String(meta.taken[0]?.body))).toEqual({
      messaging_product: 'whatsapp',
      recipient_type: 'individual',
      to: TO,
      biz_opaque_callback_data: sendContext().notificationId,
      ...expected,
    })
    expect(Object.fromEntries(new URLSearchParams(String(twilio.taken[0]?.body)))).toEqual({
      To: `whatsapp:${TO}`,
      From: 'whatsapp:+14155550100',
      ...(body === '' ? {} : { Body: body }),
      MediaUrl: LINK,
    })
  })

  it('need no text', async () => {
    const { send } = await world()
    expect(await send({ media: { type: 'image', link: LINK } })).toMatchObject({ status: 'queued' })
  })

  const approvedTemplate = { name: 'order', language: 'en' }
  it.each<[string, object, string | undefined, string, string]>([
    [
      'no TLS',
      { media: { type: 'image', link: 'http://a.example/b' } },
      'x',
      'invalid_parameter',
      '.media.link',
    ],
    ['another type', { media: { type: 'sticker', link: LINK } }, 'x', 'invalid_parameter', '.media.type'],
    ['no link', { media: { type: 'image' } }, 'x', 'missing_required_field', '.media.link'],
    [
      'a name of an image',
      { media: { type: 'image', link: LINK, filename: 'a.png' } },
      'x',
      'invalid_parameter',
      '.media.filename',
    ],
    [
      'a path',
      { media: { type: 'document', link: LINK, filename: '../a' } },
      'x',
      'invalid_parameter',
      '.media.filename',
    ],
    [
      'a template',
      { media: { type: 'image', link: LINK }, approvedTemplate },
      'x',
      'invalid_parameter',
      '.media',
    ],
    ['a name as sender', { from: 'Trains' }, 'x', 'invalid_parameter', '.from'],
    ['another sender', { from: '+14155238887' }, 'x', 'invalid_sender', '.from'],
  ])('and senders with a fault are named: %s', async (_name, parts, body, code, field) => {
    const { send } = await world()
    await expect(send(parts, body)).rejects.toMatchObject({ code, details: { field: `whatsapp${field}` } })
  })

  it('have a caption of at most 1,024 characters, and audio none', async () => {
    const { send } = await world()
    const image = { media: { type: 'image', link: LINK } } as const
    expect(await send(image, 'x'.repeat(1_024))).toMatchObject({ status: 'queued' })
    await expect(send(image, 'x'.repeat(1_025))).rejects.toMatchObject({ code: 'message_too_large' })
    const audio = { media: { type: 'audio', link: LINK } } as const
    await expect(send(audio, 'x')).rejects.toMatchObject({ details: { field: 'body' } })
  })
})

it('another sender is used by both vendors', async () => {
  const { meta, twilio, hand } = await world()
  for (const vendor of ['meta', 'twilio'] as const) await hand(vendor, { from: OTHER }, 'Hi')
  expect(meta.taken[0]?.path).toBe('/v25.0/18/messages')
  expect(new URLSearchParams(String(twilio.taken[0]?.body)).get('From')).toBe(`whatsapp:${OTHER}`)
})
