/** Named references that templates use; anything rarer is left as it stands, which is readable. */
const NAMED: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  ensp: ' ',
  emsp: ' ',
  thinsp: ' ',
  shy: '',
  zwnj: '',
  zwj: '',
  copy: '©',
  reg: '®',
  trade: '™',
  hellip: '…',
  middot: '·',
  bull: '•',
  ndash: '–',
  mdash: '—',
  lsquo: '‘',
  rsquo: '’',
  sbquo: '‚',
  ldquo: '“',
  rdquo: '”',
  bdquo: '„',
  laquo: '«',
  raquo: '»',
  lsaquo: '‹',
  rsaquo: '›',
  larr: '←',
  uarr: '↑',
  rarr: '→',
  darr: '↓',
  check: '✓',
  times: '×',
  divide: '÷',
  plusmn: '±',
  deg: '°',
  sect: '§',
  para: '¶',
  euro: '€',
  pound: '£',
  yen: '¥',
  cent: '¢',
  frac12: '½',
  iexcl: '¡',
  iquest: '¿',
  auml: 'ä',
  Auml: 'Ä',
  ouml: 'ö',
  Ouml: 'Ö',
  uuml: 'ü',
  Uuml: 'Ü',
  szlig: 'ß',
  aacute: 'á',
  agrave: 'à',
  acirc: 'â',
  aring: 'å',
  aelig: 'æ',
  ccedil: 'ç',
  eacute: 'é',
  egrave: 'è',
  ecirc: 'ê',
  euml: 'ë',
  iacute: 'í',
  ntilde: 'ñ',
  oacute: 'ó',
  ocirc: 'ô',
  oslash: 'ø',
  uacute: 'ú',
}

const REFERENCE =
  /&(?:#(\d{1,7})(?!\d)|#[xX]([0-9a-fA-F]{1,6})(?![0-9a-fA-F])|([A-Za-z][A-Za-z0-9]{1,31}));?/g

/** Replaces character references, once: what they stand for is not read again. */
export function decodeEntities(html: string): string {
  if (!html.includes('&')) return html
  return html.replace(REFERENCE, meaningOf)
}

/** The same in the value of an attribute, where `?a=1&copy=2` holds no reference (HTML, "named character reference state"). */
export function decodeAttribute(value: string): string {
  if (!value.includes('&')) return value
  return value.replace(REFERENCE, (whole, decimal?: string, hex?: string, name?: string, at = 0) => {
    const isParameter = name !== undefined && !whole.endsWith(';') && value.charAt(at + whole.length) === '='
    return isParameter ? whole : meaningOf(whole, decimal, hex, name)
  })
}

function meaningOf(whole: string, decimal?: string, hex?: string, name?: string): string {
  if (name !== undefined) return Object.hasOwn(NAMED, name) ? (NAMED[name] ?? whole) : whole
  return character(decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal))
}

/** What 128 to 159 stand for, by whose numbers Word and Outlook write quotes and dashes (HTML, "numeric character reference"). */
const WINDOWS_1252 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ'

function character(code: number): string {
  if (code >= 0x80 && code <= 0x9f) return WINDOWS_1252.charAt(code - 0x80)
  const isText = code >= 0x20 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff)
  return isText ? String.fromCodePoint(code) : ' '
}
