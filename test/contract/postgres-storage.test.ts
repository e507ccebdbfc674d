import { afterAll, test } from 'vitest'
import { storageContract } from '../../src/testing/storage-contract.ts'
import { describeWith } from '../support/left-out.ts'
import { stopSharedPostgres, whyNoPostgres } from '../support/postgres.ts'
import { postgresHarness } from '../support/postgres-harness.ts'

afterAll(stopSharedPostgres)

describeWith(whyNoPostgres(), 'postgres', () => storageContract(test, () => postgresHarness()))
