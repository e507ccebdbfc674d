import Database from 'libsql'
import { test } from 'vitest'
import { storageContract } from '../../src/testing/storage-contract.ts'
import { sqliteHarness } from '../support/sqlite-harness.ts'

/** libsql reads a text only up to a NUL character, and one of these ids has nothing else. A version that does not must be noticed. */
const NOT_ON_LIBSQL = 'the longest message ids are stored, and found by early and late receipts'

storageContract(
  (name, run) => (name === NOT_ON_LIBSQL ? test.fails : test)(name, run),
  () => sqliteHarness(undefined, Database),
)
