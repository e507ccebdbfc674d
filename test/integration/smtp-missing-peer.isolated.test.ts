import { registerHooks } from 'node:module'
import { afterAll, describe, expect, it } from 'vitest'
import { smtp } from '../../adapters/channels/smtp/send.ts'
import { email } from '../../src/core/channels/built-in.ts'
import { perOrganization } from '../../src/core/channels/channel-option.ts'
import { createNotifier } from '../../src/create-notifier.ts'
import { mailMessage, sendContext } from '../support/channel-context.ts'
import { eventually } from '../support/eventually.ts'
import { inMemory } from '../support/in-memory.ts'

// As Node.js itself reports a package that is not installed.
const hooks = registerHooks({
  resolve(specifier, context, next) {
    if (!/(?:^|\/)nodemailer(?:\/|$)/.test(specifier)) return next(specifier, context)
    const error = new Error(`Cannot find package 'nodemailer' imported from ${context.parentURL}`)
    throw Object.assign(error, { code: 'ERR_MODULE_NOT_FOUND' })
  },
})
afterAll(() => hooks.deregister())

describe('smtp without nodemailer', () => {
  const channelOf = () => smtp({ host: 'mail.example.org', from: 'a@example.org' })
  const channel = channelOf()
  const message = 'The package "nodemailer" is not installed. Run: npm install nodemailer'

  it('is created, and says at the check what to install', async () => {
    await expect(channel.check?.()).rejects.toMatchObject({ code: 'missing_peer', message })
  })

  it('keeps a notifier from starting, before anything else is opened', async () => {
    let opened = false
    const storage = {
      ...inMemory(),
      async start() {
        opened = true
      },
    }
    const notifier = createNotifier({ channels: { email: channelOf() }, storage })
    await expect(notifier.start()).rejects.toMatchObject({ code: 'missing_peer', message })
    expect(opened).toBe(false)
    await notifier.stop()
  })

  it('is what an organization has none of, when a function makes it', async () => {
    const errors: Error[] = []
    const notifier = createNotifier({ channels: { email: perOrganization(email, () => channelOf()) } })
    notifier.on('error', (error) => void errors.push(error))
    await notifier.start()
    await notifier.send({ channel: 'email', to: 'ada@example.com', body: 'Hello' })
    const called = 'The function channels.email, called with "org_default": '
    expect(errors).toMatchObject([{ code: 'missing_peer', message: `${called}${message}` }])
    const waiting = async () => (await notifier.health()).waiting.map(({ reason }) => reason)
    await eventually(async () => (await waiting()).includes('unavailable'))
    await notifier.stop()
  })

  it('sends nothing, and lets another provider take the mail', async () => {
    expect(await channel.send(mailMessage(), sendContext())).toEqual({
      kind: 'rejected',
      code: 'missing_peer',
      scope: 'account',
      message,
    })
  })

  it('closes', async () => {
    await expect(channel.close?.()).resolves.toBeUndefined()
  })
})
