/** Prints one step of the example under a label. */
export function say(label: string, text: string): void {
  console.log(`${label.padEnd(12)} ${text}`)
}

/** Text from outside, on one line and without control characters: it ends up on a terminal. */
export function quote(text: string): string {
  return JSON.stringify(text).replace(/[\u007f-\u009f\u2028\u2029]/g, '?')
}

/** What went wrong, with its cause where there is one. */
export function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message
}
