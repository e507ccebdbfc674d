import { initial } from './0001-initial.ts'
import { claim } from './0002-claim.ts'
import { tracking } from './0003-tracking.ts'

/**
 * In order, append-only: the schema's version is the number of those that have run. Each only adds: processes of the
 * version before go on serving while it runs and after.
 */
export const migrations: readonly string[] = [initial, claim, tracking]
