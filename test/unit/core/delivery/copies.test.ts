import { describe, expect, it } from 'vitest'
import { decide } from '../../../../src/core/delivery/after-attempt.ts'
import { type Outcome, soundOutcome, withoutTexts } from '../../../../src/core/notification/outcome.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { deliveryWorld, retry } from '../../../support/delivery-world.ts'
import { mail } from '../../../support/notifier-world.ts'

const copied = {
  ...mail,
  email: { cc: ['Bob <bob@example.com>', 'BOB2@example.com'], bcc: 'carl@bücher.example' },
}
const suppress = (to: string) => ({ channel: 'email', to })

describe('copies of a mail', () => {
  it('go to all who are not suppressed', async () => {
    const provider = recordingProvider()
    const { notifier, ended, history } = await deliveryWorld([provider])
    await notifier.suppressions.add(suppress('eve@example.com'))
    const { id } = await notifier.send(copied)
    expect(await ended(id)).toBe('sent')
    expect(provider.messages[0]?.email).toEqual({
      cc: [{ name: 'Bob', address: 'bob@example.com' }, { address: 'BOB2@example.com' }],
      bcc: [{ address: 'carl@bücher.example' }],
    })
    expect(await history(id)).not.toContain('reported')
  })

  it('are left out visibly where the address is suppressed', async () => {
    const provider = recordingProvider()
    const { notifier, ended } = await deliveryWorld([provider])
    for (const address of ['bob2@EXAMPLE.com', 'carl@xn--bcher-kva.example']) {
      await notifier.suppressions.add(suppress(address))
    }
    const { id } = await notifier.send(copied)
    expect(await ended(id)).toBe('sent')
    expect(provider.messages[0]?.email).toEqual({
      cc: [{ name: 'Bob', address: 'bob@example.com' }],
      bcc: [],
    })
    const { timeline } = await notifier.notifications.get(id)
    const left = timeline.filter(({ event }) => event === 'reported')
    expect(left.map(({ attempt, provider }) => [attempt, provider])).toEqual([
      [1, 'recorder'],
      [1, 'recorder'],
    ])
    expect(JSON.stringify(left)).toMatch(/BOB2@example\.com was left out.*carl@bücher\.example was left out/)
    expect(JSON.stringify(left)).toContain('blocked_recipient')
    const addresses = ['BOB2@example.com', 'carl@bücher.example']
    expect(left.map(({ address }) => address)).toEqual(addresses)
    expect(timeline.filter(({ event }) => event !== 'reported').map(({ address }) => address)).toEqual([
      null,
      null,
    ])
    const logs = await notifier.logs.list()
    expect(logs.items.flatMap(({ address }) => address ?? []).sort()).toEqual(addresses)
  })

  it('of a required category go to who has unsubscribed, but to no bounced address', async () => {
    const provider = recordingProvider()
    const { notifier, ended } = await deliveryWorld([provider], {
      categories: { invoices: { name: 'Invoices', required: true } },
    })
    await notifier.suppressions.add({ ...suppress('bob@example.com'), reason: 'unsubscribe' })
    await notifier.suppressions.add({ ...suppress('bob2@example.com'), reason: 'hard_bounce' })
    const { id } = await notifier.send({ ...copied, category: 'invoices' })
    expect(await ended(id)).toBe('sent')
    expect(provider.messages[0]?.email).toMatchObject({ cc: [{ address: 'bob@example.com' }] })
  })

  it('are left out visibly where the address has turned the category off', async () => {
    const provider = recordingProvider()
    const { notifier, ended } = await deliveryWorld([provider], { categories: { news: { name: 'News' } } })
    const { to, channel } = suppress('bob@example.com')
    await notifier.preferences.change({ to, channel }, { categories: { news: { email: false } } })
    const { id } = await notifier.send({ ...copied, category: 'news' })
    expect(await ended(id)).toBe('sent')
    expect(provider.messages[0]?.email).toMatchObject({ cc: [{ address: 'BOB2@example.com' }] })
    const { timeline } = await notifier.notifications.get(id)
    const left = timeline.filter(({ event }) => event === 'reported')
    expect(left).toMatchObject([{ address: 'bob@example.com', error: { code: 'opted_out' } }])
  })

  it('are checked again before each attempt', async () => {
    const provider = recordingProvider({ retry: { kind: 'schedule', delaysMs: [1_000], jitter: 0 } })
    provider.behave(retry('message'))
    const { notifier, clock, ended } = await deliveryWorld([provider])
    const { id } = await notifier.send(copied)
    await clock.advance(0)
    await notifier.suppressions.add(suppress('bob@example.com'))
    provider.behave(async () => ({ kind: 'accepted' }))
    await clock.advance(1_000)
    expect(await ended(id)).toBe('sent')
    const bob = provider.messages.map((message) => JSON.stringify(message).includes('bob@example.com'))
    expect(bob).toEqual([true, false])
  })

  it('do not go where the recipient is suppressed', async () => {
    const provider = recordingProvider()
    const { notifier, clock, ended } = await deliveryWorld([provider])
    const sendAt = new Date(clock.now() + 60_000)
    const { id } = await notifier.send({ ...copied, sendAt })
    await notifier.suppressions.add(suppress(mail.to))
    await clock.advance(60_000)
    expect(await ended(id)).toBe('failed')
    expect(provider.calls).toEqual([])
  })

  it('that the provider refuses are told, and suppressed where the mailbox does not exist', async () => {
    const provider = recordingProvider()
    const { notifier, ended } = await deliveryWorld([provider])
    const refusedCopies = [
      {
        address: 'bob@example.com',
        code: 'invalid_recipient',
        message: 'No such user',
        providerCode: '550 5.1.1',
      },
      { address: 'carl@xn--bcher-kva.example', code: 'mailbox_full', message: 'Full' },
    ]
    provider.behave(async () => ({ kind: 'accepted', refusedCopies }))
    const { id } = await notifier.send(copied)
    expect(await ended(id)).toBe('sent')
    const { items } = await notifier.suppressions.list()
    expect(items).toMatchObject([{ to: 'bob@example.com', reason: 'hard_bounce' }])
    const { timeline } = await notifier.notifications.get(id)
    expect(timeline.map(({ event }) => event)).toEqual(['queued', 'sent', 'reported', 'reported'])
  })
})

describe('a refused copy in an outcome', () => {
  const context = {
    ...{
      suppressesRefused: true,
      attempt: 1,
      outages: 0,
      provider: 'p',
      hasNextProvider: false,
      durationMs: 1,
    },
    ...{
      policy: { kind: 'schedule', delaysMs: [], jitter: 0 } as const,
      onAmbiguous: 'retry' as const,
      expiresInMs: null,
      random: 0,
    },
  } as const

  it('is checked as everything of a plug-in', () => {
    const given = {
      kind: 'accepted',
      refusedCopies: [{ address: 'a@example.com', code: 'oops' }, { code: 'expired' }, null],
    }
    expect(soundOutcome(given)).toMatchObject({
      refusedCopies: [{ address: 'a@example.com', code: 'provider_error', providerCode: 'oops' }],
    })
    expect(soundOutcome({ kind: 'accepted', refusedCopies: 'a' })).not.toHaveProperty('refusedCopies')
    const many = Array.from({ length: 1_000 }, () => ({ address: 'a@example.com' }))
    expect(soundOutcome({ kind: 'accepted', refusedCopies: many })).toMatchObject({
      refusedCopies: { length: 100 },
    })
  })

  it('has no text where the message is sensitive', () => {
    const copy = {
      address: 'a@example.com',
      code: 'expired',
      message: 'Your code 1234',
      providerCode: '1',
    } as const
    const outcome: Outcome = { kind: 'accepted', refusedCopies: [copy] }
    expect(withoutTexts(outcome)).toEqual({
      kind: 'accepted',
      refusedCopies: [{ address: 'a@example.com', code: 'expired' }],
    })
  })

  it('follows the fact that decides', () => {
    const refusedCopies = [{ address: 'a@example.com', code: 'invalid_recipient' }] as const
    const { facts } = decide({ kind: 'accepted', refusedCopies }, context)
    expect(facts).toMatchObject([
      { type: 'sent' },
      { type: 'reported', address: 'a@example.com', suppress: 'hard_bounce', attempt: 1, provider: 'p' },
    ])
  })
})
