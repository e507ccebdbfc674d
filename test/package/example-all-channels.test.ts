import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { expect, test } from 'vitest'
import { fromRoot } from '../../scripts/entries.mjs'

test('one notification goes through every channel, up to its receipt, a person gets what they want, and the example ends by itself', async () => {
  if (!existsSync(fromRoot('dist')))
    throw new Error('The example uses the built package: npm run build comes first')
  const child = spawn(process.execPath, [fromRoot('examples/all-channels/main.ts')], {
    env: { ...process.env, NODE_OPTIONS: '' },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  let printed = ''
  const add = (chunk: string): void => {
    printed += chunk
  }
  child.stdout.setEncoding('utf8').on('data', add)
  child.stderr.setEncoding('utf8').on('data', add)
  expect(await once(child, 'close'), printed).toEqual([0, null])
  const histories = printed
    .split('\n')
    .slice(0, -2)
    .map((line) => line.replace(/^(\w+) +notif_\d+: /, '$1: ').replace(/\d{4}-\S+Z|\d\d:\d\d/g, 'then'))
  expect(histories).toEqual([
    'email: queued → sent → opened (opened)',
    'sms: queued → sent → delivered (delivered)',
    'push: queued → sent (sent)',
    'slack: queued → sent → reported (sent)',
    'whatsapp: queued → sent → delivered (delivered)',
    'telegram: queued → sent (sent)',
    'discord: queued → sent (sent)',
    'webhook: queued → sent → delivered (delivered)',
    'email: queued → skipped (skipped)',
    'push: queued → sent (sent)',
    'sms: queued → sent → delivered (delivered)',
    'preferences: waits until then Quiet hours until then (UTC).',
    'schedule: waits until then',
  ])
})
