// A process that delivers through a queue engine until it is killed.
// Usage: node queue.ts <connection as JSON>
import { queueProgram } from '../../../src/testing/queue/queue-contract.ts'
import { queueAt } from '../../support/queue-connection.ts'

await queueProgram(queueAt(JSON.parse(process.argv[2] ?? '')))
