import { expect, test, vi } from 'vitest'

/* The oldest major of @slack/web-api that package.json allows: it sends by axios, where the next has `fetch`. */
const loaded = vi.hoisted(() => ({ version: '' }))
vi.mock('@slack/web-api', async () => {
  const { createRequire } = await import('node:module')
  loaded.version = createRequire(import.meta.url)('slack-web-api7/package.json').version
  return await import('slack-web-api7')
})

await import('./slack-provider.test.ts')

test('it was the oldest major', () => {
  expect(loaded.version).toMatch(/^7\./)
})
