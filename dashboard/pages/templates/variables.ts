/** A name that a template looks up. */
export interface Placeholder {
  readonly name: string
  /** A section's value is any JSON. */
  readonly type: 'text' | 'number' | 'date' | 'section'
}

/** What was typed for placeholders, by name. A section's value is JSON. */
export type Typed = Readonly<Record<string, string>>

const SAMPLES = { number: '2', date: `${new Date().toISOString().slice(0, 16)}Z`, section: 'true' }

/** What a field shows: untouched, a value of the type, of a text one that tells where it lands. */
export function shownValue({ name, type }: Placeholder, typed: Typed): string {
  return typed[name] ?? (type === 'text' ? name : SAMPLES[type])
}

/** True for the value of a section that is no JSON. */
export function isBroken(placeholder: Placeholder, typed: Typed): boolean {
  const value = shownValue(placeholder, typed)
  return placeholder.type === 'section' && value.trim() !== '' && parsed(value) === undefined
}

/** The variables of a request. Emptied fields are left out, so that the server says whether they are needed. */
export function variablesOf(placeholders: readonly Placeholder[], typed: Typed): object {
  const variables: object = Object.create(null)
  for (const placeholder of placeholders) {
    const value = shownValue(placeholder, typed)
    if (value.trim() === '') continue
    const given = placeholder.type === 'section' ? parsed(value) : value
    if (given !== undefined) put(variables, placeholder.name.split('.'), given)
  }
  return variables
}

function parsed(json: string): unknown {
  try {
    return JSON.parse(json)
  } catch {
    return undefined
  }
}

/** Without prototypes, so that no name reaches one. A value that is no object is not overwritten. */
function put(into: object, [name = '', ...rest]: readonly string[], value: unknown): void {
  const fields = into as Record<string, unknown>
  const own = Object.hasOwn(fields, name) ? fields[name] : undefined
  if (rest.length === 0) {
    fields[name] ??= value
    return
  }
  if (own === undefined) fields[name] = Object.create(null)
  const next = fields[name]
  if (typeof next === 'object' && next !== null) put(next, rest, value)
}
