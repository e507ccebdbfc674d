/** Options of `Intl.NumberFormat`, with a factor for the value. */
type NumberOptions = Readonly<Record<string, string | number | boolean>>

/** A word of a number skeleton: `stem/option`. */
interface SkeletonToken {
  readonly stem: string
  readonly options: readonly string[]
}

const UNLIMITED = 20

/**
 * Words without an option (ICU, "Number skeletons"). `intl-messageformat` reads some otherwise: it multiplies percents by
 * 100, exchanges symbols and codes of currencies, and takes the digits of an exponent for those of the number.
 */
const WORDS: Readonly<Record<string, NumberOptions>> = {
  ...named({ style: 'percent' }, 'percent', '%'),
  ...named({ style: 'percent', scale: 100 }, '%x100'),
  ...named({ useGrouping: false }, 'group-off', ',_'),
  ...named({ useGrouping: 'min2' }, 'group-min2', ',?'),
  ...named({ useGrouping: 'auto' }, 'group-auto'),
  ...named({ useGrouping: 'always' }, 'group-on-aligned', ',!'),
  ...named({ maximumFractionDigits: 0 }, 'precision-integer', '.'),
  ...named({ maximumFractionDigits: UNLIMITED }, 'precision-unlimited', '.+'),
  ...named({ notation: 'compact', compactDisplay: 'short' }, 'compact-short', 'K'),
  ...named({ notation: 'compact', compactDisplay: 'long' }, 'compact-long', 'KK'),
  ...named({ notation: 'scientific' }, 'scientific', 'E0'),
  ...named({ notation: 'engineering' }, 'engineering', 'EE0'),
  ...named({ notation: 'standard' }, 'notation-simple'),
  ...named({ currencyDisplay: 'narrowSymbol', unitDisplay: 'narrow' }, 'unit-width-narrow'),
  ...named({ currencyDisplay: 'symbol', unitDisplay: 'short' }, 'unit-width-short'),
  ...named({ currencyDisplay: 'name', unitDisplay: 'long' }, 'unit-width-full-name'),
  ...named({ currencyDisplay: 'code' }, 'unit-width-iso-code'),
  ...named({ roundingMode: 'floor' }, 'rounding-mode-floor'),
  ...named({ roundingMode: 'ceil' }, 'rounding-mode-ceiling'),
  ...named({ roundingMode: 'trunc' }, 'rounding-mode-down'),
  ...named({ roundingMode: 'expand' }, 'rounding-mode-up'),
  ...named({ roundingMode: 'halfEven' }, 'rounding-mode-half-even'),
  ...named({ roundingMode: 'halfTrunc' }, 'rounding-mode-half-down'),
  ...named({ roundingMode: 'halfExpand' }, 'rounding-mode-half-up'),
  ...named({ signDisplay: 'auto' }, 'sign-auto'),
  ...named({ signDisplay: 'always' }, 'sign-always', '+!'),
  ...named({ signDisplay: 'never' }, 'sign-never', '+_'),
  ...named({ signDisplay: 'exceptZero' }, 'sign-except-zero', '+?'),
  ...named({ signDisplay: 'negative' }, 'sign-negative', '+-'),
  ...named({ currencySign: 'accounting' }, 'sign-accounting', '()'),
  ...named({ currencySign: 'accounting', signDisplay: 'always' }, 'sign-accounting-always', '()!'),
  ...named({ currencySign: 'accounting', signDisplay: 'exceptZero' }, 'sign-accounting-except-zero', '()?'),
  ...named({ currencySign: 'accounting', signDisplay: 'negative' }, 'sign-accounting-negative', '()-'),
  ...named({ numberingSystem: 'latn' }, 'latin'),
}

function named(options: NumberOptions, ...names: readonly string[]): Readonly<Record<string, NumberOptions>> {
  return Object.fromEntries(names.map((name) => [name, options]))
}

/**
 * The meaning of a number skeleton by ICU. Without a precision, numbers have at most six decimals.
 *
 * @throws Error that names a word without a meaning here
 */
export function numberOptions(tokens: readonly SkeletonToken[]): NumberOptions {
  const options: Record<string, string | number | boolean> = {}
  for (const token of tokens) Object.assign(options, meaningOf(token))
  const { style, notation, scale = 1 } = options
  const hasPrecision = Object.keys(options).some((name) =>
    /^m..imum(?:Fraction|Significant)Digits$/.test(name),
  )
  if (!hasPrecision && notation !== 'compact' && style !== 'currency') options.maximumFractionDigits = 6
  // JavaScript multiplies percents by 100. In ICU only a scale does.
  if (style === 'percent') options.scale = Number(scale) / 100
  return options
}

/** Words that JavaScript knows: creating a formatter to find out takes more time than everything else. */
const known = new Set<string>()
const MOST_KNOWN = 1_000

/** @throws Error that names a word without a meaning, or with one that JavaScript does not know, such as a currency */
export function assertNumberSkeleton(tokens: readonly SkeletonToken[]): void {
  for (const token of tokens) {
    const name = [token.stem, ...token.options].join('/')
    if (known.has(name)) continue
    const options = meaningOf(token)
    try {
      new Intl.NumberFormat('en', options)
    } catch (cause) {
      throw unsupported(token, cause)
    }
    if (known.size >= MOST_KNOWN) known.clear()
    known.add(name)
  }
}

function meaningOf(token: SkeletonToken): NumberOptions {
  const { stem, options } = token
  const [option] = options
  if (options.length > 1) throw unsupported(token)
  const meaning = option === undefined ? wordOf(stem) : optionOf(stem, option)
  if (meaning === null) throw unsupported(token)
  return meaning
}

function unsupported({ stem, options }: SkeletonToken, cause?: unknown): Error {
  return new Error(`the format "${[stem, ...options].join('/')}" is not supported`, { cause })
}

function wordOf(stem: string): NumberOptions | null {
  if (Object.hasOwn(WORDS, stem)) return WORDS[stem] ?? null
  if (/^0+$/.test(stem)) return { minimumIntegerDigits: stem.length }
  return precisionOf(stem)
}

/** `.00`, `.##`, `.0#`, `.00*`; `@@`, `@#`, `@@*`. */
function precisionOf(stem: string): NumberOptions | null {
  const [fraction, zeros = '', hashes = '', open] = /^\.(?=[0#])(0*)(?:(#+)|([*+]))?$/.exec(stem) ?? []
  if (fraction !== undefined) {
    const maximumFractionDigits = open === undefined ? zeros.length + hashes.length : UNLIMITED
    return { minimumFractionDigits: zeros.length, maximumFractionDigits }
  }
  const [significant, least = '', more = '', endless] = /^(@+)(?:(#+)|([*+]))?$/.exec(stem) ?? []
  if (significant === undefined) return null
  const maximumSignificantDigits = endless === undefined ? least.length + more.length : UNLIMITED
  return { minimumSignificantDigits: least.length, maximumSignificantDigits }
}

function optionOf(stem: string, option: string): NumberOptions | null {
  switch (stem) {
    case 'currency':
      return { style: 'currency', currency: option }
    case 'unit':
      return { style: 'unit', unit: option }
    case 'measure-unit':
      return /^[a-z]+-./.test(option) ? { style: 'unit', unit: option.replace(/^[a-z]+-/, '') } : null
    case 'scale':
      return /^\d{1,20}(?:\.\d{1,20})?$/.test(option) && Number(option) > 0 ? { scale: Number(option) } : null
    case 'integer-width':
      return /^[*+]0+$/.test(option) ? { minimumIntegerDigits: option.length - 1 } : null
    case 'numbering-system':
      return { numberingSystem: option }
    default:
      return precisionWith(precisionOf(stem), option)
  }
}

const PRIORITIES: Readonly<Record<string, string>> = { r: 'morePrecision', s: 'lessPrecision' }

/** `.00/w`; `.00/@##r`, `.00/@##s`. */
function precisionWith(precision: NumberOptions | null, option: string): NumberOptions | null {
  if (precision === null) return null
  if (option === 'w') return { ...precision, trailingZeroDisplay: 'stripIfInteger' }
  const [, digits = '', priority = ''] = /^(@+#*)([rs])$/.exec(option) ?? []
  const significant = precisionOf(digits)
  const roundingPriority = PRIORITIES[priority]
  if (significant === null || roundingPriority === undefined || !('minimumFractionDigits' in precision))
    return null
  return { ...precision, ...significant, roundingPriority }
}

/** Fields of dates and times that JavaScript knows (Unicode, "Date field symbol table"). */
const FIELD = /^(?:G{1,5}|y{1,4}|M{1,5}|L{1,5}|d{1,2}|E{1,5}|[ec]{4,6}|a|[hHkK]{1,2}|m{1,2}|s{1,2}|z{1,4})$/

/**
 * @param skeleton with `j` replaced by the hours of the locale
 * @throws Error that names a field that is unknown here
 */
export function assertDateSkeleton(skeleton: string): void {
  const fields = skeleton.match(/([A-Za-z'])\1*/g) ?? [skeleton]
  const unknown = fields.find((field) => !FIELD.test(field))
  if (unknown !== undefined) throw new Error(`the format "${unknown}" of a date is not supported`)
}
