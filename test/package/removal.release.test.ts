import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { fromRoot } from '../../scripts/entries.mjs'

test('a feature can be taken away with its folder and its lines', () => {
  const script = fromRoot('scripts/without-feature.mjs')
  const { status, stdout, stderr } = spawnSync(process.execPath, [script, 'statistics'], { encoding: 'utf8' })
  expect(status, `${stdout}${stderr}`).toBe(0)
  expect(stdout.split('\n').filter((line) => line.startsWith('- ')).length).toBeLessThan(14)
})

test('a feature that others need cannot', () => {
  const script = fromRoot('scripts/without-feature.mjs')
  const { status } = spawnSync(process.execPath, [script, 'categories'], { encoding: 'utf8' })
  expect(status).toBe(1)
})
