import { registerHooks } from 'node:module'
import { createElement } from 'react'
import { afterAll, expect, it } from 'vitest'
import { createNotifier, defineTemplates } from '../../src/index.ts'
import { recordingProvider } from '../../src/testing/recording-provider.ts'
import { TO, withTemplates } from '../support/code-templates.ts'

// As Node.js itself reports packages that are not installed.
const hooks = registerHooks({
  resolve(specifier, context, next) {
    const name = /(?:^|\/)(@react-email\/render|mjml)(?:\/|$)/.exec(specifier)?.[1]
    if (name === undefined) return next(specifier, context)
    const error = new Error(`Cannot find package '${name}' imported from ${context.parentURL}`)
    throw Object.assign(error, { code: 'ERR_MODULE_NOT_FOUND' })
  },
})
afterAll(() => hooks.deregister())

it('an element of React names the package that it needs, and others need none', async () => {
  const { notifier } = await withTemplates(
    defineTemplates({
      react: { channel: 'email', html: () => createElement('p') },
      plain: { channel: 'email', html: () => '<p>Hi</p>' },
    }),
  )
  await expect(notifier.send({ to: TO, template: 'react' })).rejects.toMatchObject({
    code: 'missing_peer',
    message: 'The package "@react-email/render" is not installed. Run: npm install @react-email/render',
  })
  expect((await notifier.validate({ to: TO, template: 'plain' })).rendered.body).toBe('<p>Hi</p>')
})

it('MJML names the package at the start', async () => {
  const templates = defineTemplates({ hi: { channel: 'email', mjml: '<mjml></mjml>' } })
  await expect(
    createNotifier({ channels: { email: recordingProvider() }, templates }).start(),
  ).rejects.toMatchObject({
    code: 'missing_peer',
    message: 'The package "mjml" is not installed. Run: npm install mjml',
  })
})
