import { test } from 'vitest'
import { storageContract } from '../../src/testing/storage-contract.ts'
import { mapHarness } from '../map-storage-contract/harness.ts'

storageContract(test, async () => mapHarness())
