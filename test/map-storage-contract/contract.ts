import { test } from 'node:test'
import { storageContract } from 'carillon/testing'
import { mapHarness } from './harness.ts'

storageContract(test, async () => mapHarness())
