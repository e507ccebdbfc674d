import assert from 'node:assert/strict'
import { createRequire } from 'node:module'
import test from 'node:test'

test('the built package loads through import and require, as one and the same', async () => {
  const imported = await import('carillon')
  const required = createRequire(import.meta.url)('carillon')
  assert.equal(typeof imported.createNotifier, 'function')
  assert.equal(required.createNotifier, imported.createNotifier)
})
