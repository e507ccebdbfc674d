import * as z from 'zod'
import type { RouteLimit } from '../limits/model.ts'
import { line } from '../rest/query-schemas.ts'
import type { HandlerResult, RequestContext, Route, Tag } from '../rest/route.ts'
import { page } from '../rest/schemas.ts'
import type { Branding } from '../tenancy/organization.ts'
import { escapeHtml } from '../text/escape.ts'
import { htmlPage, type PageLook } from './page.ts'
import type { PageTextsByLanguage } from './page-texts.ts'
import { textsFor } from './texts/catalogue.ts'

const TAG: Tag = { name: 'Pages', description: 'Targets of signed links in messages.' }

/** A mail provider fetches the images of all its users. */
const LINKS: RouteLimit = { name: 'links', perMinute: 6_000, underMaintenance: true }

/** Longer than any issued token, and close to the limit of a request line. */
const MAX_TOKEN = 8_000

const MAX_LANGUAGE = 35

/** Query of a link in a message. */
const linkQuery: z.ZodType<{ t: string; lang?: string | undefined }> = z.object({
  t: line.max(MAX_TOKEN).describe('The signed token of the link.'),
  lang: line
    .max(MAX_LANGUAGE)
    .optional()
    .describe('Language of the page. Default: that of the message, else by Accept-Language.'),
})

/** What the routes of signed links in messages have in common. */
export const LINK_ROUTE: Readonly<
  Pick<Route, 'tag' | 'needsNoKey' | 'limit' | 'query' | 'page' | 'response' | 'mediaType'>
> & { readonly permission: 'public' } = {
  tag: TAG,
  permission: 'public',
  needsNoKey: 'the link is signed',
  limit: LINKS,
  query: linkQuery,
  page: true,
  response: page,
  mediaType: '*/*',
}

/** The token. Empty: missing or repeated. */
export function tokenIn({ query }: RequestContext): string {
  const { t = '' } = query
  return typeof t === 'string' && t.length <= MAX_TOKEN ? t : ''
}

export function langIn({ query: { lang } }: RequestContext): string | null {
  return typeof lang === 'string' ? lang.slice(0, MAX_LANGUAGE) : null
}

/** The facts that a page takes from its message. */
export interface PageFrame {
  /** The language of the message, as BCP 47. Null: unknown, or an invalid token. */
  readonly locale: string | null
  /** Its organization. Null: an invalid token, or no such organization. */
  readonly branding: Branding | null
}

/** The texts for the visitor. `lang` in the link chooses the language, then its message, then the browser. */
export function lookOf(
  context: RequestContext,
  texts: PageTextsByLanguage,
  { locale, branding }: PageFrame,
): PageLook {
  const wanted = [langIn(context), locale].filter((name) => name !== null)
  return { ...textsFor(texts, wanted, context.request.header('accept-language')), branding }
}

/** The answer to an invalid link. */
export function unknownPage({ texts, ...look }: PageLook): HandlerResult {
  return htmlPage(404, look, texts.unknownTitle, `<p>${escapeHtml(texts.unknownText)}</p>`)
}

/** Headers of answers that lead on. */
export const PRIVATE: Readonly<Record<string, string>> = {
  'Referrer-Policy': 'no-referrer',
  'X-Robots-Tag': 'noindex',
}
