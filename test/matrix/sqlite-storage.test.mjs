// The whole contract on every supported version: node:sqlite differs between them.
import test from 'node:test'
import { storageContract } from '../../src/testing/storage-contract.ts'
import { sqliteHarness } from '../support/sqlite-harness.ts'

const onNode22 = process.versions.node.startsWith('22.')

/** The SQLite of Node.js 22 reads a text only up to a NUL character, and one of these ids has nothing else. */
const NOT_ON_22 = 'the longest message ids are stored, and found by early and late receipts'

storageContract(
  (name, run) => void test(name, { skip: onNode22 && name === NOT_ON_22 }, run),
  () => sqliteHarness(),
)
