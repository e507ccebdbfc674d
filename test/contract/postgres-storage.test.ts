import { afterAll, test } from 'vitest'
import { storageContract } from '../../src/testing/storage-contract.ts'
import { stopSharedPostgres } from '../support/postgres.ts'
import { postgresHarness } from '../support/postgres-harness.ts'

afterAll(stopSharedPostgres)

storageContract(test, () => postgresHarness())
