/** The one of `known` that a mistyped word most likely means. Undefined: none is near. */
function nearest(word: string, known: Iterable<string>): string | undefined {
  let found: string | undefined
  let least = Math.max(2, Math.ceil(word.length / 3)) + 1
  for (const each of known) {
    const far = distance(word.toLowerCase(), each.toLowerCase())
    if (far < least) [found, least] = [each, far]
  }
  return found
}

/** `; did you mean "…"?`, or nothing. */
export function didYouMean(word: string, known: Iterable<string>, prefix = ''): string {
  const found = nearest(word, known)
  return found === undefined ? '' : ` Did you mean "${prefix}${found}"?`
}

/** Characters to insert, delete or replace. */
function distance(from: string, to: string): number {
  let row = Array.from({ length: to.length + 1 }, (_, column) => column)
  for (let line = 1; line <= from.length; line += 1) {
    const next = [line]
    for (let column = 1; column <= to.length; column += 1) {
      const replaced = (row[column - 1] ?? 0) + (from[line - 1] === to[column - 1] ? 0 : 1)
      next.push(Math.min(replaced, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1))
    }
    row = next
  }
  return row[to.length] ?? 0
}
