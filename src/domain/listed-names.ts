/** Most names that an error repeats: an input or a template may hold a hundred thousand, and a batch ten thousand errors. */
export const MOST_NAMES = 10

const MOST_CHARACTERS = 50

/** A name that somebody else chose, as an error repeats it. */
export function shortName(name: string): string {
  return name.slice(0, MOST_CHARACTERS)
}

/**
 * The first of these names as a message lists them, and how many more there are.
 *
 * @param note what the message says of a name, in parentheses; absent: nothing
 */
export function listedNames(names: readonly string[], note?: (name: string) => string): string {
  const shown = names
    .slice(0, MOST_NAMES)
    .map((name) => `"${shortName(name)}"${note === undefined ? '' : ` (${note(name)})`}`)
  const more = names.length - shown.length
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
