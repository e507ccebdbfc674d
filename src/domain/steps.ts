/**
 * Work without I/O that can be interrupted: a generator that yields after each bounded piece and returns the result.
 * Between two pieces the event loop may turn, so nothing that the work reads may change meanwhile.
 */
export type Steps<Result> = Generator<undefined, Result, undefined>

/** The most characters, and the most items of about {@link ITEM_CHARACTERS}, that are processed between two yields. */
export const STEP_CHARACTERS = 16_384

/** One tag or token costs about as much as so many characters of text. */
export const ITEM_CHARACTERS = 32

/** Runs all steps at once. */
export function finish<Result>(steps: Iterator<undefined, Result>): Result {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

/** Counts work; answers true when a step is full, and starts the next. */
export function createStepCounter(): (characters: number) => boolean {
  let left = STEP_CHARACTERS
  return (characters) => {
    left -= characters
    if (left > 0) return false
    left = STEP_CHARACTERS
    return true
  }
}

/** Work of one step. */
export function once<Result>(work: () => Result): Iterator<undefined, Result> {
  return { next: () => ({ done: true, value: work() }) }
}

/** A text in pieces of at most {@link STEP_CHARACTERS}, cut where {@link cutBefore} does. */
export function* piecesOf(text: string): Generator<string, void, undefined> {
  for (let from = 0; from < text.length; ) {
    const to = from + STEP_CHARACTERS < text.length ? cutBefore(text, from + STEP_CHARACTERS) : text.length
    yield text.slice(from, to)
    from = to
  }
}

/** The place `at` or the one before it: not within a surrogate pair, nor between CR and LF. */
export function cutBefore(text: string, at: number): number {
  const last = text.charCodeAt(at - 1)
  return last === CR || (last >= 0xd800 && last <= 0xdbff) ? at - 1 : at
}

const CR = 0x0d
