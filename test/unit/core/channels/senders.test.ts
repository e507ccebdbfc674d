import { describe, expect, it } from 'vitest'
import { sendgrid } from '../../../../adapters/channels/sendgrid/send.ts'
import type { MailAddressInput } from '../../../../src/core/channels/email-content.ts'
import type { Provider } from '../../../../src/core/ports/provider.ts'
import { type RecordingProvider, recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { deliveryWorld, rejected } from '../../../support/delivery-world.ts'
import { mail } from '../../../support/notifier-world.ts'

type Refuses = NonNullable<Provider['refuses']>

const REFUSED = { code: 'invalid_sender', details: { field: 'email.from' } }
const as = (from: MailAddressInput) => ({ ...mail, email: { from } })

/** Records messages, and allows the senders that the options of a mail provider allow. */
function allowing(name: string, senders?: readonly string[]) {
  const { refuses = () => null } = sendgrid({ apiKey: 'SG.a', from: 'Acme <Hello@ACME.example>', senders })
  return recordingProvider({ name, refuses: refuses as Refuses })
}

/** An organization with these providers. */
async function acmeWith(providers: RecordingProvider[], senders?: readonly string[] | null) {
  const world = await deliveryWorld(providers)
  await world.notifier.organizations.create({ id: 'org_acme', name: 'Acme', senders })
  return { ...world, acme: world.notifier.organization('org_acme') }
}

describe("a message's sender", () => {
  it('may be the own one of the provider, with any name', async () => {
    const provider = allowing('own')
    const { notifier, ended } = await deliveryWorld([provider])
    const { id } = await notifier.send(as('"Ada of Acme" <HELLO@acme.EXAMPLE>'))
    await ended(id)
    expect(provider.messages[0]?.email).toEqual({
      from: { name: 'Ada of Acme', address: 'HELLO@acme.EXAMPLE' },
    })
  })

  it.each(['news@acme.example', 'hello@mail.acme.example', 'hello@acme.example.org', 'hello@xacme.example'])(
    'is refused unless the provider allows it: %s',
    async (from) => {
      const { notifier } = await deliveryWorld([allowing('own')])
      await expect(notifier.send(as(from))).rejects.toMatchObject(REFUSED)
      await expect(notifier.validate(as(from))).rejects.toMatchObject(REFUSED)
      const { items } = await notifier.sendBatch([as(from), mail])
      expect(items).toMatchObject([{ error: REFUSED }, { status: 'queued' }])
    },
  )

  it('may be an address or anything in a domain of the option', async () => {
    const senders = ['News@Beta.example', 'BÜCHER.example']
    const { notifier } = await deliveryWorld([allowing('wide', senders)])
    for (const from of ['news@beta.example', 'a@bücher.example', 'B@xn--bcher-kva.example']) {
      await notifier.send(as(from))
    }
    for (const from of ['other@beta.example', 'a@sub.bücher.example', 'a@buecher.example']) {
      await expect(notifier.send(as(from))).rejects.toMatchObject(REFUSED)
    }
  })

  it('decides which provider is asked, also at failover', async () => {
    const [first, second, third] = [
      allowing('first', ['beta.example']),
      allowing('second'),
      allowing('third', ['beta.example']),
    ]
    first.behave(rejected('account'))
    const { notifier, ended } = await deliveryWorld([first, second, third])
    const { id } = await notifier.send(as('a@beta.example'))
    await ended(id)
    expect([first.calls.length, second.calls.length, third.calls.length]).toEqual([1, 0, 1])
  })

  it('ends a message if no provider allows it any more', async () => {
    const provider = allowing('changing', ['beta.example'])
    const { refuses } = allowing('narrow')
    const { notifier, clock, ended } = await deliveryWorld([provider])
    const sendAt = new Date(clock.now() + 60_000)
    const { id } = await notifier.send({ ...as('a@beta.example'), sendAt })
    Object.assign(provider, { refuses })
    await clock.advance(60_000)
    expect(await ended(id)).toBe('failed')
    expect(await notifier.notifications.get(id)).toMatchObject({ error: { code: 'invalid_sender' } })
    expect(provider.calls).toEqual([])
    await expect(notifier.notifications.resend(id)).rejects.toMatchObject(REFUSED)
  })
})

describe("an organization's senders", () => {
  it('limit what its mails may name, besides those of the providers', async () => {
    const { acme, notifier } = await acmeWith(
      [allowing('wide', ['beta.example', 'gamma.example'])],
      ['GAMMA.example'],
    )
    await acme.send(as('a@gamma.example'))
    await acme.send(mail)
    await expect(acme.send(as('a@beta.example'))).rejects.toMatchObject(REFUSED)
    const { items } = await acme.sendBatch([as('a@beta.example'), as('b@gamma.example')])
    expect(items).toMatchObject([{ error: REFUSED }, { status: 'queued' }])
    await notifier.send(as('a@beta.example'))
    expect((await notifier.organizations.get('org_acme')).senders).toEqual(['gamma.example'])
  })

  it('allow nothing that no provider allows', async () => {
    const { acme } = await acmeWith([allowing('own')], ['beta.example'])
    await expect(acme.send(as('a@beta.example'))).rejects.toMatchObject(REFUSED)
  })

  it('can be changed and taken away', async () => {
    const { acme, notifier } = await acmeWith([allowing('wide', ['beta.example'])], [])
    await expect(acme.send(as('a@beta.example'))).rejects.toMatchObject(REFUSED)
    await notifier.organizations.update('org_acme', { senders: ['a@beta.example'] })
    await acme.send(as('A@beta.example'))
    await expect(acme.send(as('b@beta.example'))).rejects.toMatchObject(REFUSED)
    await notifier.organizations.update('org_acme', { senders: null })
    await acme.send(as('b@beta.example'))
  })

  it.each(['', 'example', '@example.com', 'a@', 'a b.example', '*.example.com', 'https://example.com'])(
    'must be addresses and domains: %j',
    async (entry) => {
      const { notifier } = await deliveryWorld([allowing('own')])
      const input = { name: 'Beta', senders: [entry] }
      await expect(notifier.organizations.create(input)).rejects.toMatchObject({ code: 'invalid_parameter' })
      const options = { apiKey: 'SG.a', from: 'a@example.com', senders: [entry] }
      expect(() => sendgrid(options)).toThrow(expect.objectContaining({ code: 'invalid_configuration' }))
    },
  )
})
