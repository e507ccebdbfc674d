/** No text has half a character, which JSON escapes and databases refuse to read; nor U+0000, for which the same is true. */
const UNSOUND = /\0|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

/** A text from outside, cut to `most` UTF-16 units, with U+FFFD for what is no text. */
export function soundText(text: string, most: number): string {
  return text.slice(0, most).replace(UNSOUND, '\ufffd')
}
