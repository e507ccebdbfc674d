import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createNotifier } from 'carillon'
import { recordingProvider } from 'carillon/testing'
import { welcome } from './welcome.js'

test('a new customer is welcomed by name', async (t) => {
  const email = recordingProvider()
  const notifier = createNotifier({ channels: { email } })
  await notifier.start()
  t.after(() => notifier.stop())
  await welcome(notifier, { name: 'Ada', email: 'ada@example.com' })
  const { subject } = await email.waitFor({ to: 'ada@example.com' })
  assert.equal(subject, 'Welcome, Ada')
})
