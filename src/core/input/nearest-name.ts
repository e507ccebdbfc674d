/** Names with more differences are unrelated. */
const MOST_EDITS = 2
const LONGEST = 50

/**
 * The known name closest to a misspelt one.
 *
 * @returns null if none is close
 */
export function nearestName(name: string, known: readonly string[]): string | null {
  if (name.length > LONGEST) return null
  const lower = name.toLowerCase()
  let nearest: string | null = null
  let fewest = MOST_EDITS + 1
  for (const candidate of known) {
    // Each edit changes the length by at most one.
    if (Math.abs(candidate.length - name.length) >= fewest) continue
    const edits = editsBetween(lower, candidate.toLowerCase(), fewest)
    if (edits >= fewest || edits * 2 >= candidate.length) continue
    fewest = edits
    nearest = candidate
  }
  return nearest
}

/** Optimal string alignment distance, or at least `most` if it is no less than that. */
function editsBetween(from: string, to: string, most: number): number {
  let older: number[] = []
  let last = Array.from({ length: to.length + 1 }, (_, index) => index)
  for (let row = 1; row <= from.length; row += 1) {
    const next = [row]
    for (let column = 1; column <= to.length; column += 1) {
      const at = (line: readonly number[], place: number): number => line[place] ?? 0
      const same = from[row - 1] === to[column - 1] ? 0 : 1
      let edits = Math.min(at(last, column) + 1, at(next, column - 1) + 1, at(last, column - 1) + same)
      if (row > 1 && column > 1 && from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]) {
        edits = Math.min(edits, at(older, column - 2) + 1)
      }
      next.push(edits)
    }
    if (Math.min(...next) >= most) return most
    older = last
    last = next
  }
  return last[to.length] ?? 0
}
