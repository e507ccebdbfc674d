import { registerHooks } from 'node:module'
import { afterAll, describe, expect, it } from 'vitest'
import { smtpChannel } from '../../adapters/channels/email/smtp.ts'
import { mailMessage, sendContext } from './support/channel-context.ts'

// As Node.js itself reports a package that is not installed.
const hooks = registerHooks({
  resolve(specifier, context, next) {
    if (!/(?:^|\/)nodemailer(?:\/|$)/.test(specifier)) return next(specifier, context)
    const error = new Error(`Cannot find package 'nodemailer' imported from ${context.parentURL}`)
    throw Object.assign(error, { code: 'ERR_MODULE_NOT_FOUND' })
  },
})
afterAll(() => hooks.deregister())

describe('smtpChannel without nodemailer', () => {
  const channel = smtpChannel({ host: 'mail.example.org', from: 'a@example.org' })
  const message = 'The package "nodemailer" is not installed. Run: npm install nodemailer'

  it('is created, and says at the check what to install', async () => {
    await expect(channel.check?.()).rejects.toMatchObject({ code: 'missing_peer', message })
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
