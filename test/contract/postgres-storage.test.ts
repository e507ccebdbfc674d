import { test } from 'vitest'
import { storageContract } from '../../src/testing/storage-contract.ts'
import { describeWith } from '../support/left-out.ts'
import { whyNoPostgres } from '../support/postgres.ts'
import { postgresHarness } from '../support/postgres-harness.ts'

describeWith(whyNoPostgres(), 'postgres', () => storageContract(test, () => postgresHarness()))
