import { NotifierError } from '../../core/errors/notifier-error.ts'
import { type Bounds, bytesOf, counted } from '../../core/input/bounds.ts'
import type { Markup } from '../../core/ports/markup.ts'
import type { CodeDefinition } from './options.ts'

/**
 * The definition with HTML instead of MJML. Values are inserted later, so none adds an element of MJML.
 *
 * @throws NotifierError `missing_peer`, `invalid_template`
 */
export async function withHtml(
  definition: CodeDefinition,
  markup: Markup,
  bounds: Bounds,
): Promise<CodeDefinition> {
  const { mjml, locales = {}, ...rest } = definition
  if (mjml === undefined) return definition
  const variants: [string, object][] = []
  for (const [locale, { mjml: own, ...variant }] of Object.entries(locales))
    variants.push([
      locale,
      own === undefined ? variant : { ...variant, html: await htmlOf(own, markup, bounds, locale) },
    ])
  return { ...rest, html: await htmlOf(mjml, markup, bounds), locales: Object.fromEntries(variants) }
}

async function htmlOf(source: string, markup: Markup, bounds: Bounds, locale = ''): Promise<string> {
  const html = await markup.mjml(source)
  const size = bytesOf(html)
  if (size <= bounds.textBytes) return html
  throw new NotifierError('invalid_template', {
    message: `The MJML${locale === '' ? '' : ` of the locale ${locale}`} makes ${counted(size)} bytes of HTML; the option "bounds.textBytes" allows ${counted(bounds.textBytes)}. Shorten it, or raise the option.`,
    details: { field: 'mjml' },
  })
}
