/** Prints one step of the example under a label. */
export function say(label: string, text: string): void {
  console.log(`${label.padEnd(12)} ${text}`)
}

/** External text for a terminal: on one line, without control characters. */
export function quote(text: string): string {
  return JSON.stringify(text).replace(/[\u007f-\u009f\u2028\u2029]/g, '?')
}

/** An error's message, with its cause if present. */
export function explain(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message} (${error.cause.message})` : error.message
}
