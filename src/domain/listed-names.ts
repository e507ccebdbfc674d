/** Most names that an error repeats: an input may hold a hundred thousand, and a batch ten thousand errors. */
export const MOST_NAMES = 10

const MOST_CHARACTERS = 50

/** A name that somebody else chose, as an error repeats it. */
export function shortName(name: string): string {
  return name.slice(0, MOST_CHARACTERS)
}

/** The first of these names as a message lists them, and how many more there are. */
export function listedNames(names: readonly string[]): string {
  const shown = names.slice(0, MOST_NAMES).map((name) => `"${shortName(name)}"`)
  const more = names.length - shown.length
  return `${shown.join(', ')}${more > 0 ? ` and ${more} more` : ''}`
}
