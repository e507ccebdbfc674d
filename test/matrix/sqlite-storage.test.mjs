// The whole contract on every supported runtime: node:sqlite differs between them.
import test from 'node:test'
import { storageContract } from '../../src/testing/storage-contract.ts'
import { sqliteHarness } from '../support/sqlite-harness.ts'

const { node, deno } = process.versions
/** Those of Node.js 22 and of Deno read a text only up to a NUL character, and one of these ids has nothing else. */
const endsAtNul = deno !== undefined || node.startsWith('22.')
const WITH_NUL = 'the longest message ids are stored, and found by early and late receipts'

storageContract(
  (name, run) => void test(name, { skip: endsAtNul && name === WITH_NUL }, run),
  () => sqliteHarness(),
)
