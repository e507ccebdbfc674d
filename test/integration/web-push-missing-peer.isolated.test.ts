import { createECDH } from 'node:crypto'
import { registerHooks } from 'node:module'
import { afterAll, describe, expect, it } from 'vitest'
import { webPush } from '../../adapters/channels/web-push/send.ts'
import { sendContext } from '../support/channel-context.ts'
import { pushClient } from '../support/push-client.ts'

// As Node.js itself reports a package that is not installed.
const hooks = registerHooks({
  resolve(specifier, context, next) {
    if (!/(?:^|\/)node_modules\/web-push\/|^web-push$/.test(specifier)) return next(specifier, context)
    const error = new Error(`Cannot find package 'web-push' imported from ${context.parentURL}`)
    throw Object.assign(error, { code: 'ERR_MODULE_NOT_FOUND' })
  },
})
afterAll(() => hooks.deregister())

describe('webPush without web-push', () => {
  const pair = createECDH('prime256v1')
  const publicKey = pair.generateKeys('base64url')
  const privateKey = pair.getPrivateKey('base64url')
  const channel = webPush({ vapid: { subject: 'mailto:ops@example.com', publicKey, privateKey } })
  const message = 'The package "web-push" is not installed. Run: npm install web-push'

  it('is created, and says at the check what to install', async () => {
    await expect(channel.check?.()).rejects.toMatchObject({ code: 'missing_peer', message })
  })

  it('sends nothing, and lets another provider take the message', async () => {
    const to = pushClient().subscription('https://updates.push.services.mozilla.com/wpush/v2/x')
    const outcome = await channel.send({ to, subject: null, body: 'Hi', format: 'text' }, sendContext())
    expect(outcome).toEqual({ kind: 'rejected', code: 'missing_peer', scope: 'account', message })
  })
})
