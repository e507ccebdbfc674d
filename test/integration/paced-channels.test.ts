import { expect, it } from 'vitest'
import { discord } from '../../adapters/channels/discord/send.ts'
import { slack, slackWebhook } from '../../adapters/channels/slack/send.ts'
import { sns } from '../../adapters/channels/sns/send.ts'
import { telegram } from '../../adapters/channels/telegram/send.ts'
import { twilio } from '../../adapters/channels/twilio/send.ts'
import { vonage } from '../../adapters/channels/vonage/send.ts'
import { whatsapp } from '../../adapters/channels/whatsapp/send.ts'

/* Nothing is sent here: what the engine reads of each channel, and what it is told when nothing is said. */

const CHANNELS = {
  twilio: (more: object) =>
    twilio({ accountSid: `AC${'0'.repeat(32)}`, authToken: 'token', from: '+15005550006', ...more }),
  whatsapp: (more: object) => whatsapp({ accessToken: 'token', phoneNumberId: '17', ...more }),
  vonage: (more: object) => vonage({ apiKey: 'key', apiSecret: 'secret', from: 'ACME', ...more }),
  sns: (more: object) => sns({ region: 'eu-central-1', ...more }),
  slack: (more: object) => slack({ token: 'xoxb-1', ...more }),
  'slack-webhook': (more: object) =>
    slackWebhook({ url: 'https://hooks.slack.com/services/T/B/x', to: '#alerts', ...more }),
  discord: (more: object) =>
    discord({
      url: `https://discord.com/api/webhooks/123456789012345678/${'a'.repeat(68)}`,
      to: '#alerts',
      ...more,
    }),
  telegram: (more: object) => telegram({ token: `1:${'a'.repeat(35)}`, ...more }),
}

it.each(Object.entries(CHANNELS))('%s says how fast and how it wants to be asked', async (name, create) => {
  const plain = create({})
  expect(plain).toMatchObject({ name, maxConcurrent: 10, timeoutMs: 16_000 })
  expect(plain.maxPerSecond).toBe(name === 'telegram' ? 30 : undefined)
  // A second message to a phone number costs; a second one in a chat does not.
  expect(plain.onAmbiguous).toBe(/^(?:sms|whatsapp)$/.test(plain.kind?.name ?? '') ? 'fail' : 'retry')
  const set = create({
    name: 'other',
    maxPerSecond: 0.5,
    maxConcurrent: 2,
    timeoutMs: 1_000,
    onAmbiguous: 'retry',
  })
  expect(set).toMatchObject({
    name: 'other',
    maxPerSecond: 0.5,
    maxConcurrent: 2,
    timeoutMs: 2_000,
    onAmbiguous: 'retry',
  })
  for (const maxPerSecond of [0, 1.5, -1]) expect(() => create({ maxPerSecond })).toThrow('"maxPerSecond"')
  expect(() => create({ unknown: 1 })).toThrow('"unknown"')
  await plain.close?.()
  await set.close?.()
})

it('reports are taken only where something proves them', async () => {
  const proofs = {
    twilio: {},
    vonage: { secret: 'secret' },
    slack: { secret: 'secret' },
    telegram: { secret: 'secret-token' },
    whatsapp: { secret: 'secret', verifyToken: 'token' },
  }
  for (const [name, receipts] of Object.entries(proofs))
    expect(CHANNELS[name as keyof typeof proofs]({ receipts }).parseReceipts, name).toBeTypeOf('function')
  for (const name of [
    'twilio',
    'whatsapp',
    'vonage',
    'sns',
    'slack',
    'slack-webhook',
    'telegram',
    'discord',
  ] as const)
    expect(CHANNELS[name]({}).parseReceipts, name).toBeUndefined()
})
