import { describe, expect, it } from 'vitest'
import type { PartsRefusal } from '../../../../src/core/ports/provider.ts'
import {
  type RecordingProviderOptions,
  recordingProvider,
} from '../../../../src/testing/recording-provider.ts'
import { deliveryWorld } from '../../../support/delivery-world.ts'
import { mail, notifierWorld } from '../../../support/notifier-world.ts'

/* What providers say about the parts of a message: at accept, and before each attempt. */

const withParts = { ...mail, email: { replyTo: 'eve@example.com' } }
const refusal: PartsRefusal = { code: 'invalid_sender', message: 'Not this address.', field: 'replyTo' }
const refusing = (name: string, more: RecordingProviderOptions = {}) =>
  recordingProvider({ name, refuses: () => refusal, ...more })

describe('providers that refuse the parts of a message', () => {
  it('are passed over', async () => {
    const [first, second] = [refusing('first'), recordingProvider({ name: 'second' })]
    const { notifier, ended } = await deliveryWorld([first, second])
    const { id } = await notifier.send(withParts)
    expect(await ended(id)).toBe('sent')
    expect([first.calls.length, second.calls.length]).toEqual([0, 1])
  })

  it('are not asked about a message without parts', async () => {
    const first = refusing('first')
    const { notifier, ended } = await deliveryWorld([first])
    const { id } = await notifier.send(mail)
    expect(await ended(id)).toBe('sent')
  })

  it('refuse it at accept, with the reason of the first that reaches the recipient', async () => {
    const elsewhere = refusing('elsewhere', { accepts: () => false })
    const other: PartsRefusal = { code: 'invalid_content', message: 'Another reason.' }
    const { notifier } = await deliveryWorld([
      elsewhere,
      refusing('first'),
      refusing('second', { refuses: () => other }),
    ])
    await expect(notifier.send(withParts)).rejects.toMatchObject({
      code: 'invalid_sender',
      status: 422,
      message: 'Not this address.',
      details: { field: 'email.replyTo', channel: 'email' },
    })
  })

  it('get the parts and the recipient', async () => {
    const asked: unknown[] = []
    const only = recordingProvider({
      refuses(parts, to) {
        asked.push(parts, to)
        return null
      },
    })
    const { notifier, ended } = await deliveryWorld([only])
    await ended((await notifier.send(withParts)).id)
    expect(asked.slice(0, 2)).toEqual([{ replyTo: [{ address: 'eve@example.com' }] }, mail.to])
  })

  it('end it with their reason if they refuse since the accept', async () => {
    let answer: PartsRefusal | null = null
    const only = recordingProvider({ refuses: () => answer })
    const { notifier, clock, ended, history } = await deliveryWorld([only])
    const { id } = await notifier.send({ ...withParts, sendAt: new Date(clock.now() + 1_000) })
    answer = refusal
    await clock.advance(2_000)
    expect(await ended(id)).toBe('failed')
    expect((await history(id)).at(-1)).toBe('failed: invalid_sender')
    await expect(notifier.notifications.resend(id)).rejects.toMatchObject({ code: 'invalid_sender' })
    expect(only.calls).toEqual([])
  })

  it.each([
    ['throws', () => assertNever()],
    ['returns a promise', async () => null],
    ['returns a promise that rejects', async () => assertNever()],
    ['returns nothing', () => undefined],
    ['returns an unknown code', () => ({ code: 'nonsense', message: 'No.' })],
  ])('count as refusing when refuses() %s, and are reported', async (_name, refuses) => {
    const wrong = { ...recordingProvider(), refuses: refuses as () => PartsRefusal | null }
    const { notifier, errors } = await deliveryWorld([wrong])
    await expect(notifier.send(withParts)).rejects.toMatchObject({ code: 'invalid_content' })
    await expect(notifier.send(withParts)).rejects.toMatchObject({ code: 'invalid_content' })
    expect(errors.map(({ message }) => message)).toEqual([
      expect.stringMatching(/^The refuses\(\) of the provider "recorder" \(email\) .* counts as refused\.$/),
    ])
  })
})

function assertNever(): never {
  throw new Error('broken')
}

describe('parts for another channel', () => {
  it.each([{ inReplyTo: 'notif_none' }, { attachments: [{ id: 'att_none' }] }])(
    'are refused as such, before what %j names is looked up',
    async (email) => {
      const notifier = await notifierWorld().start({ channels: { sms: recordingProvider() } })
      const message = { channel: 'sms', to: '+4366412345678', body: 'Hi', email } as never
      const error = { code: 'invalid_parameter', details: { field: 'email', channel: 'sms' } }
      await expect(notifier.send(message)).rejects.toMatchObject(error)
      await expect(notifier.validate(message)).rejects.toMatchObject(error)
      expect((await notifier.sendBatch([message])).items).toMatchObject([{ error }])
    },
  )
})
