import { decodeHTML, decodeHTMLAttribute } from 'entities/decode'

/** A hint where a word may be divided: some mail clients show it. */
const SOFT_HYPHEN = /\u00ad/g

/** Decodes character references. */
export function decodeEntities(html: string): string {
  return html.includes('&') ? decodeHTML(html).replace(SOFT_HYPHEN, '') : html
}

/** Decodes references in an attribute, where `?a=1&copy=2` contains none (HTML, "named character reference state"). */
export function decodeAttribute(value: string): string {
  return value.includes('&') ? decodeHTMLAttribute(value) : value
}
