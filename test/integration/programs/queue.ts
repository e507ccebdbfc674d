// A process that delivers through a queue engine until it is killed.
// Usage: node queue.ts <place as JSON>
import { queueProgram } from '../../../src/testing/queue/queue-contract.ts'
import { atPlace } from '../../support/queue-place.ts'

await queueProgram(atPlace(JSON.parse(process.argv[2] ?? '')))
