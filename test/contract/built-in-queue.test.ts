import { test } from 'vitest'
import { queueContract } from '../../src/testing/queue/queue-contract.ts'
import { describeWith } from '../support/left-out.ts'
import { sharedPostgres, uniqueSchema, whyNoPostgres } from '../support/postgres.ts'
import { queueHarness } from '../support/queue-harness.ts'

const schema = uniqueSchema()
describeWith(whyNoPostgres(), 'built-in dispatch', () => {
  queueContract(test, async () => {
    const place = { url: await sharedPostgres(), schema, queue: { engine: 'none' } as const }
    return queueHarness(place, { async lose() {}, takeAway: null })
  })
})
