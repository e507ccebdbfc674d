import { expect, test } from 'vitest'
import { WAIT_MS } from '../support/patience.ts'
import { copyExample, startExample } from './example-folder.ts'

test('nextjs: the commands of its README send, and Ctrl+C ends it', { timeout: 12 * WAIT_MS }, async () => {
  const example = await copyExample('nextjs', 'files')
  const terminal = await startExample(example)
  await example.run(example.commands[1] ?? '')
  await expect.poll(terminal.printed).toContain('ada@example.com: Welcome')
  await expect.poll(terminal.printed).toContain('bob@example.com: Hello')
  const refused = await example.ask('/welcome?to=mallory', { method: 'POST' })
  expect(refused).toEqual([422, expect.stringContaining('invalid_email')])
  expect(await terminal.interrupt()).toBeOneOf([0, 130])
})
