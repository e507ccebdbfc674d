import type { LintFault } from '../../core/channels/lint.ts'
import { createStepCounter, ITEM_CHARACTERS } from '../../core/loop/steps.ts'
import { attributeSpans, type HtmlToken, htmlTokens } from '../../core/text/html-tokens.ts'

/** Attributes with an address, and the schemes that mails never need there. */
const ADDRESSES: Readonly<Record<string, RegExp>> = {
  href: /^(?:javascript|vbscript|data|file|blob|filesystem)$/,
  action: /^(?:javascript|vbscript|data|file|blob|filesystem)$/,
  // Images are also written as data.
  src: /^(?:javascript|vbscript|file|filesystem)$/,
}

/** The examined attributes. */
const OF_OTHERS: ReadonlySet<string> = new Set(Object.keys(ADDRESSES))
const OF_IMAGES: ReadonlySet<string> = new Set([...OF_OTHERS, 'alt'])

/** Names of characters that hide a scheme. */
const REFERENCES: Readonly<Record<string, string>> = { colon: ':', tab: '\t', newline: '\n', amp: '&' }

/** More than a scheme needs, however it is hidden. */
const SCHEME_LENGTH = 500

/** Looking for a few attributes costs as much as this many characters. */
const COST_OF_ATTRIBUTES = 4 * ITEM_CHARACTERS

/** Finds faults in HTML. Undefined: other work may run. */
export function* htmlFaults(html: string, field: string): Generator<LintFault | undefined> {
  const isStepFull = createStepCounter()
  for (const token of htmlTokens(html)) {
    if (isStepFull(ITEM_CHARACTERS + (token.kind === 'open' ? COST_OF_ATTRIBUTES : 0))) yield undefined
    if (token.kind !== 'open' || (token.attributes === '' && token.name !== 'img')) continue
    for (const fault of tagFaults(token)) {
      const name = html.slice(token.attributesAt - token.name.length, token.attributesAt)
      yield { ...fault, field, excerpt: `<${name}${token.attributes}>` }
    }
  }
}

function* tagFaults({
  name,
  attributes,
}: Extract<HtmlToken, { kind: 'open' }>): Generator<Pick<LintFault, 'rule' | 'message'>> {
  const spans = attributeSpans(attributes, name === 'img' ? OF_IMAGES : OF_OTHERS)
  if (name === 'img' && !spans.has('alt'))
    yield {
      rule: 'image_without_alt',
      message:
        'An image has no text for people who do not see it. Describe it in alt="…", or write alt="" if it only decorates.',
    }
  for (const [attribute, unsafe] of Object.entries(ADDRESSES)) {
    const value = spans.get(attribute)?.value
    if (value === undefined) continue
    const scheme = schemeOf(value)
    if (scheme !== null && unsafe.test(scheme))
      yield {
        rule: 'unsafe_link',
        message: `"${attribute}" begins with "${scheme}:", which runs code or reads files. Write an address with https.`,
      }
    if (scheme === 'http')
      yield {
        rule: 'plain_http_link',
        message: `"${attribute}" begins with "http:", so that others can read and change what it leads to. Write https.`,
      }
  }
}

/** The scheme of a raw address, as a browser reads it. Null: none. */
function schemeOf(raw: string): string | null {
  const address = raw
    .slice(0, SCHEME_LENGTH)
    .replace(/&(?:#(\d{1,7});?|#x([0-9a-f]{1,6});?|([a-z]+);)/gi, (whole, decimal, hex, name) => {
      if (name !== undefined) return REFERENCES[String(name).toLowerCase()] ?? whole
      const code = decimal === undefined ? Number.parseInt(hex, 16) : Number(decimal)
      return code <= 0x10ffff ? String.fromCodePoint(code) : whole
    })
    // Browsers skip leading controls and spaces, and line breaks and tabs everywhere.
    .replace(/^[\0- ]+|[\t\r\n]+/g, '')
  return /^([a-z][a-z0-9+.-]*):/i.exec(address)?.[1]?.toLowerCase() ?? null
}
