/**
 * Maximum number of names in an error: an input or a template may have a hundred thousand, and a batch ten thousand
 * errors.
 */
export const MOST_NAMES = 10

const MOST_CHARACTERS = 50

/** A foreign name, shortened for an error message. */
export function shortName(name: string): string {
  return name.slice(0, MOST_CHARACTERS)
}

/**
 * Lists the first names for a message, and counts the rest.
 *
 * @param note added to a name in parentheses; absent or null: nothing
 */
export function listedNames(names: readonly string[], note?: (name: string) => string | null): string {
  const shown = names.slice(0, MOST_NAMES).map((name) => {
    const noted = note?.(name) ?? null
    return `"${shortName(name)}"${noted === null ? '' : ` (${noted})`}`
  })
  const more = names.length - shown.length
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
