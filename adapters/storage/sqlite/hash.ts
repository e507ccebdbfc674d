import { hash } from 'node:crypto'

/** A short key for several texts; none of them contains a line break. */
export function hashOf(...parts: readonly string[]): Uint8Array {
  return hash('sha256', parts.join('\n'), 'buffer')
}
