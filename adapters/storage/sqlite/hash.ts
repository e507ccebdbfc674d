import { hash } from 'node:crypto'

/** A short key for several texts without line breaks. */
export function hashOf(...parts: readonly string[]): Uint8Array {
  return hash('sha256', parts.join('\n'), 'buffer')
}
