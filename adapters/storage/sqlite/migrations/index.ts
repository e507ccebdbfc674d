import { initial } from './0001-initial.ts'

/**
 * In order and append-only: the schema's version is the number of applied migrations. Columns are added at the end, so
 * that older processes can continue with their prepared `SELECT *`. If older processes would store wrong data, a
 * migration must make their claims fail: they then deliver nothing until they are restarted.
 */
export const migrations: readonly string[] = [initial]
