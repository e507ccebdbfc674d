import { initial } from './0001-initial/index.ts'

/**
 * In order and append-only: the schema's version is the number of applied migrations. Each only adds, so that processes
 * of the previous version keep working during and after it. A released function never changes: processes of an older
 * version keep calling theirs, so a later migration adds one with the next number.
 */
export const migrations: readonly string[] = [initial]
