import { NotifierError } from '../errors/notifier-error.ts'

/**
 * Bounds of what organizations send and store. Bytes are those of UTF-8. Within the defaults no step of work takes more
 * than some ten milliseconds, so that no organization delays another.
 */
export interface BoundsOptions {
  /** Bytes of each text of a message or template, as written and as rendered. Default 262,144 (256 KiB). */
  readonly textBytes?: number | undefined
  /** Bytes of all texts of a template with its locales. Default 1,048,576 (1 MiB). */
  readonly templateBytes?: number | undefined
  /** Bytes of the texts of a layout or partial together. Default 131,072 (128 KiB). */
  readonly sharedTextBytes?: number | undefined
  /** Bytes of `variables`, and of `data`, as JSON. Default 262,144 (256 KiB). */
  readonly variablesBytes?: number | undefined
  /** Tags of a text with its layout and partials; a section has two. Default 2,000. */
  readonly tags?: number | undefined
  /** Tags of all texts of a template with its locales. Default 10,000. */
  readonly templateTags?: number | undefined
  /** Tags and texts that a message expands; lists repeat them. Default 25,000. */
  readonly expandedTags?: number | undefined
  /** Links of a mail whose clicks are counted. Default 500. */
  readonly trackedLinks?: number | undefined
  /** Messages of a catalogue. Default 1,000. */
  readonly catalogueMessages?: number | undefined
  /** Bytes of a catalogue with its keys. Default 262,144 (256 KiB). */
  readonly catalogueBytes?: number | undefined
  /** Characters of a message of a catalogue. Default 2,000. */
  readonly messageCharacters?: number | undefined
  /** Arguments, number signs, branches and words of number formats of a message of a catalogue. Default 100. */
  readonly messageTokens?: number | undefined
  /** The same in a catalogue. Default 10,000. */
  readonly catalogueTokens?: number | undefined
  /** Locales of a template, and locales with a catalogue. Default 50. */
  readonly locales?: number | undefined
}

/** The bounds of a notifier. */
export type Bounds = { readonly [Name in keyof BoundsOptions]-?: number }

/** The default of each bound, and the highest value of the option. */
const BOUNDS: { readonly [Name in keyof Bounds]: readonly [standard: number, highest: number] } = {
  textBytes: [262_144, 4_194_304],
  templateBytes: [1_048_576, 16_777_216],
  sharedTextBytes: [131_072, 4_194_304],
  variablesBytes: [262_144, 4_194_304],
  tags: [2_000, 50_000],
  templateTags: [10_000, 500_000],
  expandedTags: [25_000, 1_000_000],
  trackedLinks: [500, 10_000],
  catalogueMessages: [1_000, 20_000],
  catalogueBytes: [262_144, 4_194_304],
  messageCharacters: [2_000, 20_000],
  messageTokens: [100, 1_000],
  catalogueTokens: [10_000, 200_000],
  locales: [50, 500],
}

export const BOUND_NAMES: readonly (keyof Bounds)[] = Object.keys(BOUNDS) as (keyof Bounds)[]

function boundsBy(choose: (bound: readonly [number, number]) => number): Bounds {
  return Object.fromEntries(BOUND_NAMES.map((name) => [name, choose(BOUNDS[name])])) as unknown as Bounds
}

export const DEFAULT_BOUNDS: Bounds = boundsBy(([standard]) => standard)

/** What schemas accept: a notifier's own bounds are checked where they are known. */
export const HIGHEST_BOUNDS: Bounds = boundsBy(([, highest]) => highest)

/**
 * @param unit what is counted: `bytes`
 * @throws NotifierError `invalid_parameter` with the size, the bound, its option and what to do
 */
export function assertWithin(
  field: string,
  size: number,
  bound: keyof Bounds,
  unit: string,
  bounds: Bounds,
): void {
  const most = bounds[bound]
  if (size <= most) return
  throw new NotifierError('invalid_parameter', {
    message: `"${field}" has ${counted(size)} ${unit}; the option "bounds.${bound}" of the service allows ${counted(most)}. Shorten it, or raise the option.`,
    details: { field, size, most, option: `bounds.${bound}` },
  })
}

/** A count as errors write it. */
export function counted(count: number): string {
  return count.toLocaleString('en')
}

/** Bytes of a text in UTF-8. */
export function bytesOf(text: string | null | undefined): number {
  return text == null ? 0 : Buffer.byteLength(text)
}

const TEXT_FIELDS = ['html', 'text', 'body'] as const

/** The texts of a message, template or variant. */
type BoundedTexts = { readonly [Field in (typeof TEXT_FIELDS)[number]]?: string | null | undefined }

/**
 * @param path of the texts in errors: `locales.de.`
 * @throws NotifierError `invalid_parameter`, which names the text
 */
function assertTextBounds(texts: BoundedTexts, bounds: Bounds, path = ''): void {
  for (const name of TEXT_FIELDS)
    assertWithin(path + name, bytesOf(texts[name]), 'textBytes', 'bytes', bounds)
}

/** Texts and values that a caller gives for one message. */
interface BoundedMessage extends BoundedTexts {
  readonly variables?: object | undefined
  readonly data?: object | undefined
}

/** @throws NotifierError `invalid_parameter`, which names the text, `variables` or `data` */
export function assertMessageBounds(message: BoundedMessage, bounds: Bounds): void {
  assertTextBounds(message, bounds)
  for (const name of ['variables', 'data'] as const) {
    const values = message[name]
    if (values === undefined) continue
    assertWithin(name, bytesOf(JSON.stringify(values)), 'variablesBytes', 'bytes as JSON', bounds)
  }
}

/** A template with its variants, as given or stored. */
interface BoundedTemplate extends BoundedTexts {
  readonly locales?: Readonly<Record<string, BoundedTexts | null>> | undefined
}

/** @throws NotifierError `invalid_parameter`, which names the text, or `locales` */
export function assertTemplateBounds(template: BoundedTemplate, bounds: Bounds): void {
  const variants = Object.entries(template.locales ?? {})
  assertWithin('locales', variants.length, 'locales', 'locales', bounds)
  assertTextBounds(template, bounds)
  let size = sizeOf(template)
  for (const [locale, variant] of variants) {
    assertTextBounds(variant ?? {}, bounds, `locales.${locale}.`)
    size += sizeOf(variant ?? {})
  }
  const field = variants.length > 0 ? 'locales' : 'body'
  assertWithin(field, size, 'templateBytes', 'bytes with all texts of the template', bounds)
  const tags = [template, ...Object.values(template.locales ?? {})].reduce(
    (sum, texts) => sum + tagsOf(texts ?? {}),
    0,
  )
  assertWithin(field, tags, 'templateTags', 'tags in all texts of the template', bounds)
}

/** Every tag begins so, and nothing else does. */
function tagsOf(texts: BoundedTexts): number {
  return TEXT_FIELDS.reduce((sum, name) => sum + (texts[name]?.split('{{').length ?? 1) - 1, 0)
}

function sizeOf(texts: BoundedTexts): number {
  return TEXT_FIELDS.reduce((sum, name) => sum + bytesOf(texts[name]), 0)
}

/** @throws NotifierError `invalid_parameter` for a layout or partial with too many bytes */
export function assertSharedBounds(text: BoundedTexts, bounds: Bounds): void {
  const field = text.html == null ? 'text' : 'html'
  assertWithin(field, sizeOf(text), 'sharedTextBytes', 'bytes with all its texts', bounds)
}
