/**
 * Interruptible work without I/O: a generator that yields after each bounded piece and returns the result. Other work
 * may run between two pieces, so the inputs must not change.
 */
export type Steps<Result> = Generator<undefined, Result, undefined>

/** Maximum number of characters, or of items of about {@link ITEM_CHARACTERS}, between two yields. */
export const STEP_CHARACTERS = 16_384

/** A tag or token costs as much as this many characters of text. */
export const ITEM_CHARACTERS = 32

/** Runs all steps synchronously. */
export function finish<Result>(steps: Iterator<undefined, Result>): Result {
  for (;;) {
    const { done, value } = steps.next()
    if (done === true) return value
  }
}

/** Counts work; returns true when a step is full, and starts the next. */
export function createStepCounter(): (characters: number) => boolean {
  let left = STEP_CHARACTERS
  return (characters) => {
    left -= characters
    if (left > 0) return false
    left = STEP_CHARACTERS
    return true
  }
}

/** Work in a single step. */
export function once<Result>(work: () => Result): Iterator<undefined, Result> {
  return { next: () => ({ done: true, value: work() }) }
}

/** Splits a text into pieces of at most {@link STEP_CHARACTERS}, as {@link cutBefore} does. */
export function* piecesOf(text: string): Generator<string, void, undefined> {
  for (let from = 0; from < text.length; ) {
    const to = from + STEP_CHARACTERS < text.length ? cutBefore(text, from + STEP_CHARACTERS) : text.length
    yield text.slice(from, to)
    from = to
  }
}

/** The position `at` or the one before, so that no surrogate pair or CRLF is split. */
export function cutBefore(text: string, at: number): number {
  const last = text.charCodeAt(at - 1)
  return last === CR || (last >= 0xd800 && last <= 0xdbff) ? at - 1 : at
}

const CR = 0x0d
