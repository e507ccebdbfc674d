import Database from 'better-sqlite3'
import { test } from 'vitest'
import { storageContract } from '../../src/testing/storage-contract.ts'
import { sqliteHarness } from '../support/sqlite-harness.ts'

storageContract(test, () => sqliteHarness(undefined, Database))
