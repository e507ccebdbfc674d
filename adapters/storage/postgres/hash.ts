import { hash } from 'node:crypto'

/** A short key for several texts, in hexadecimal; none but the last contains a line break. */
export function hashOf(...parts: readonly string[]): string {
  return hash('sha256', parts.join('\n'), 'hex')
}
