import { test } from 'vitest'
import { storageContract } from '../../src/testing/storage-contract.ts'
import { inMemoryHarness } from '../support/sqlite-harness.ts'

storageContract(test, () => inMemoryHarness())
