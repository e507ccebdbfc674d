import { hash } from 'node:crypto'

/** A short hexadecimal key for several texts. Only the last may contain a line break. */
export function hashOf(...parts: readonly string[]): string {
  return hash('sha256', parts.join('\n'), 'hex')
}
