import { expect, onTestFinished, test } from 'vitest'
import { WAIT_MS } from '../support/patience.ts'
import { createConsumer } from './consumer.ts'
import { initializeAndSend, linkBinaries } from './initialized.ts'

test('Next.js: what init writes and prints sends a mail, and builds', { timeout: 12 * WAIT_MS }, async () => {
  const consumer = await createConsumer(['next', 'react', 'react-dom'], 'files')
  onTestFinished(consumer.remove)
  await linkBinaries(consumer, { carillon: 'carillon/dist/cli/bin.js', next: 'next/dist/bin/next' })
  const dependencies = { carillon: '*', next: '*' }
  await consumer.write('package.json', JSON.stringify({ name: 'site', private: true, dependencies }))
  await initializeAndSend(consumer.directory)
  // It loads the configuration as in production.
  expect(await consumer.node('node_modules/next/dist/bin/next', 'build')).toContain('/mailbox/[[...path]]')
})
