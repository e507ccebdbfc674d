import { createHash } from 'node:crypto'

/** Deeper than any accepted input; its own check refuses deeper values. */
const MAX_DEPTH = 32
/** Larger than any accepted input, with a cost for each value: ends circular structures. */
const MAX_UNITS = 32 * 1024 * 1024
const VALUE_UNITS = 256

/** A hash of a JSON value, independent of the order of keys. Undefined counts as absent. */
export function fingerprint(value: unknown): string {
  return createHash('sha256').update(canonicalOf(value)).digest('base64url')
}

/** Its own check refuses unreadable values. */
function fieldsOf(value: object): [name: string, field: unknown][] {
  try {
    return Object.entries(value)
  } catch {
    return []
  }
}

function canonicalOf(root: unknown): string {
  let left = MAX_UNITS

  function canonical(value: unknown, depth: number): string {
    left -= VALUE_UNITS
    if (typeof value === 'string') left -= value.length
    if (depth > MAX_DEPTH || left < 0) return '"…"'
    if (Array.isArray(value)) return `[${value.map((item) => canonical(item ?? null, depth + 1)).join()}]`
    if (typeof value === 'object' && value !== null) return canonicalObject(value, depth)
    return typeof value === 'bigint' ? `${value}n` : (JSON.stringify(value) ?? 'null')
  }

  function canonicalObject(value: object, depth: number): string {
    if (value instanceof Date) return JSON.stringify(value)
    if (value instanceof Uint8Array) {
      left -= value.length
      return JSON.stringify(createHash('sha256').update(value).digest('base64url'))
    }
    const members = fieldsOf(value)
      .filter(([, member]) => member !== undefined)
      .sort(([one], [other]) => (one < other ? -1 : 1))
      .map(([key, member]) => `${JSON.stringify(key)}:${canonical(member, depth + 1)}`)
    return `{${members.join()}}`
  }

  return canonical(root, 0)
}
