export type { JobRef, QueueWorker, TransactionalQueue } from '../../../src/core/ports/queue.ts'
export { type DueSet, fromSet, type RefSet, toSets } from '../ref-sets.ts'
