import { registerHooks } from 'node:module'
import { afterAll, expect, it } from 'vitest'
import { ses } from '../../adapters/channels/ses/send.ts'
import { mailMessage, sendContext } from '../support/channel-context.ts'

// As Node.js itself reports a package that is not installed.
const hooks = registerHooks({
  resolve(specifier, context, next) {
    if (!specifier.includes('client-sesv2')) return next(specifier, context)
    const error = new Error(`Cannot find package '@aws-sdk/client-sesv2' imported from ${context.parentURL}`)
    throw Object.assign(error, { code: 'ERR_MODULE_NOT_FOUND' })
  },
})
afterAll(() => hooks.deregister())

it('ses without the AWS SDK sends nothing, says what to install, and lets another provider take the mail', async () => {
  const channel = ses({ region: 'eu-central-1', from: 'a@example.org' })
  await expect(channel.open?.({ proxyFor: () => null })).rejects.toMatchObject({ code: 'missing_peer' })
  expect(await channel.send(mailMessage(), sendContext())).toEqual({
    kind: 'rejected',
    code: 'missing_peer',
    scope: 'account',
    message: 'The package "@aws-sdk/client-sesv2" is not installed. Run: npm install @aws-sdk/client-sesv2',
  })
  await channel.close?.()
})
