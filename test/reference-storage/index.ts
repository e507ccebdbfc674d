import type { Clock } from '../../src/core/ports/clock.ts'
import type { Storage } from '../../src/core/ports/storage/storage.ts'
import { createState } from './state.ts'
import { storageOf } from './storage-of.ts'

/** Maps and arrays that do what the port says, as simply as possible: the model that the storages are compared with. */
export function referenceStorage(clock: Pick<Clock, 'now'>): Storage {
  return storageOf(createState(() => clock.now()))
}
