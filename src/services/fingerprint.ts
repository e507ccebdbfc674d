import { createHash } from 'node:crypto'

/** Deeper than anything that is accepted; what is deeper still is refused by its own check. */
const MAX_DEPTH = 32

/** A hash of a JSON value that does not depend on the order of its keys; absent and undefined are the same. */
export function fingerprint(value: unknown): string {
  return createHash('sha256').update(canonical(value)).digest('base64url')
}

/** What cannot be read is refused by its own check, too. */
function fieldsOf(value: object): [name: string, field: unknown][] {
  try {
    return Object.entries(value)
  } catch {
    return []
  }
}

function canonical(value: unknown, depth = 0): string {
  if (depth > MAX_DEPTH) return '"…"'
  if (value instanceof Date) return JSON.stringify(value)
  if (value instanceof Uint8Array)
    return JSON.stringify(createHash('sha256').update(value).digest('base64url'))
  if (Array.isArray(value)) return `[${value.map((item) => canonical(item ?? null, depth + 1)).join()}]`
  if (typeof value === 'object' && value !== null) {
    const members = fieldsOf(value)
      .filter(([, member]) => member !== undefined)
      .sort(([left], [right]) => (left < right ? -1 : 1))
      .map(([key, member]) => `${JSON.stringify(key)}:${canonical(member, depth + 1)}`)
    return `{${members.join()}}`
  }
  return typeof value === 'bigint' ? `${value}n` : (JSON.stringify(value) ?? 'null')
}
