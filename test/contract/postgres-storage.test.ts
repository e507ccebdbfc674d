import { afterAll, test } from 'vitest'
import { storageContract } from '../../src/testing/storage-contract.ts'
import { stopSharedPostgres, whyNoPostgres } from '../support/postgres.ts'
import { postgresHarness } from '../support/postgres-harness.ts'

afterAll(stopSharedPostgres)

const reason = await whyNoPostgres()
if (reason === null) storageContract(test, () => postgresHarness())
else test.skip(reason)
