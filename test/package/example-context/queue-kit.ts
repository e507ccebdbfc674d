import type { RefSet } from 'carillon/queue-kit'

export declare function enqueue(set: RefSet, delayMs: number): Promise<void>
