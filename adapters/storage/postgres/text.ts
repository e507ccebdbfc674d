/** Escape character. Rare in text and absent from JSON, which escapes it. */
const ESCAPE = '\u001b'
const NUL = '\u0000'

/** Escapes U+0000, which PostgreSQL's text cannot hold, and the escape character itself. */
export function toStored(text: string): string {
  if (!text.includes(NUL) && !text.includes(ESCAPE)) return text
  return text.replaceAll(ESCAPE, `${ESCAPE}[`).replaceAll(NUL, `${ESCAPE}0`)
}

/** Undoes {@link toStored}. */
export function fromStored(text: string): string {
  if (!text.includes(ESCAPE)) return text
  return text.replaceAll(`${ESCAPE}0`, NUL).replaceAll(`${ESCAPE}[`, ESCAPE)
}
