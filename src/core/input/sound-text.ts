/** Half of a surrogate pair, which JSON escapes and databases refuse; U+0000 likewise. */
const UNSOUND = /\0|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g

/** Foreign text, cut to `most` UTF-16 units, with U+FFFD for invalid characters. */
export function soundText(text: string, most: number): string {
  return text.slice(0, most).replace(UNSOUND, '\ufffd')
}
