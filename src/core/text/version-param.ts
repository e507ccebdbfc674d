import type { RequestContext } from '../rest/route.ts'

/** NaN for any other spelling of a number. No version has it. */
export function versionParam({ version = '' }: RequestContext['params']): number {
  return /^[1-9]\d*$/.test(version) ? Number(version) : Number.NaN
}
