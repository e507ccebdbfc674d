/** Begins an escape. Rare in any text, and never in JSON, which escapes it itself. */
const ESCAPE = '\u001b'
const NUL = '\u0000'

/** PostgreSQL's text cannot hold U+0000: it is escaped, and so is what begins an escape. */
export function toStored(text: string): string {
  if (!text.includes(NUL) && !text.includes(ESCAPE)) return text
  return text.replaceAll(ESCAPE, `${ESCAPE}[`).replaceAll(NUL, `${ESCAPE}0`)
}

/** Undoes {@link toStored}. */
export function fromStored(text: string): string {
  if (!text.includes(ESCAPE)) return text
  return text.replaceAll(`${ESCAPE}0`, NUL).replaceAll(`${ESCAPE}[`, ESCAPE)
}
