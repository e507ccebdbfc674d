/** Named references in common use. Others stay unchanged, which is readable. */
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

/** Decodes character references in one pass. */
export function decodeEntities(html: string): string {
  if (!html.includes('&')) return html
  return html.replace(REFERENCE, meaningOf)
}

/** Decodes references in an attribute, where `?a=1&copy=2` contains none (HTML, "named character reference state"). */
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

/**
 * Characters for 128 to 159, which Word and Outlook use for quotes and dashes (HTML, "numeric character reference").
 */
const WINDOWS_1252 = '€\u0081‚ƒ„…†‡ˆ‰Š‹Œ\u008dŽ\u008f\u0090‘’“”•–—˜™š›œ\u009džŸ'

function character(code: number): string {
  if (code >= 0x80 && code <= 0x9f) return WINDOWS_1252.charAt(code - 0x80)
  const isText = code >= 0x20 && code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff)
  return isText ? String.fromCodePoint(code) : ' '
}
