import { NotifierError } from '../../domain/errors/notifier-error.ts'
import { MAX_BODY_LENGTH } from '../../domain/template/write.ts'
import type { Markup } from '../../ports/markup.ts'
import type { CodeDefinition } from './options.ts'

/**
 * The definition with HTML in place of MJML. Values are inserted later, so none adds an element of MJML.
 *
 * @throws NotifierError `missing_peer`, `invalid_template`
 */
export async function withHtml(definition: CodeDefinition, markup: Markup): Promise<CodeDefinition> {
  const { mjml, locales = {}, ...rest } = definition
  if (mjml === undefined) return definition
  const variants: [string, object][] = []
  for (const [locale, { mjml: own, ...variant }] of Object.entries(locales))
    variants.push([
      locale,
      own === undefined ? variant : { ...variant, html: await htmlOf(own, markup, locale) },
    ])
  return { ...rest, html: await htmlOf(mjml, markup), locales: Object.fromEntries(variants) }
}

async function htmlOf(source: string, markup: Markup, locale = ''): Promise<string> {
  const html = await markup.mjml(source)
  if (html.length <= MAX_BODY_LENGTH) return html
  throw new NotifierError('invalid_template', {
    message: `The MJML${locale === '' ? '' : ` of the locale ${locale}`} makes more than ${MAX_BODY_LENGTH} characters of HTML.`,
    details: { field: 'mjml' },
  })
}
