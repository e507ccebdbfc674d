import { nearestName } from '../core/input/nearest-name.ts'

/** A question that follows a sentence, with the known word that a misspelt one most likely means; or nothing. */
export function didYouMean(word: string, known: Iterable<string>, prefix = ''): string {
  const nearest = nearestName(word, [...known])
  return nearest === null ? '' : ` Did you mean "${prefix}${nearest}"?`
}
