// The whole contract on every supported version: node:sqlite differs between them. From the sources, which Node.js 20 can
// read as little as it has SQLite.
import test from 'node:test'

const [major = 0] = process.versions.node.split('.').map(Number)

/** The SQLite of Node.js 22 reads a text only up to a NUL character, and one of these ids has nothing else. */
const NOT_ON_22 = 'the longest message ids are stored, and found by early and late receipts'

if (major >= 22) {
  const { storageContract } = await import('../../src/testing/storage-contract.ts')
  const { sqliteHarness } = await import('../support/sqlite-harness.ts')
  storageContract(
    (name, run) => void test(name, { skip: major === 22 && name === NOT_ON_22 }, run),
    () => sqliteHarness(),
  )
}
