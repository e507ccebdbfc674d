import { assertOptionNames, objectWith } from '../domain/errors/option-names.ts'
import type { Clock } from '../ports/clock.ts'
import type { Storage } from '../ports/storage/storage.ts'
import { createState } from './state.ts'
import { storageOf } from './storage-of.ts'

export interface MemoryStorageOptions {
  /** Source of the time. Default: the system's. */
  readonly clock?: Pick<Clock, 'now'> | undefined
}

/** Keeps everything in memory, for tests and first steps. The end of the process loses it. */
export function memoryStorage(options: MemoryStorageOptions = {}): Storage {
  assertOptionNames('memoryStorage', options, { clock: objectWith('now') })
  const { clock = { now: () => Date.now() } } = options
  return storageOf(createState(() => clock.now()))
}
