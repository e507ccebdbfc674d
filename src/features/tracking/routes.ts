import * as z from 'zod'
import type { RouteLimit } from '../../core/limits/model.ts'
import type { PageLook } from '../../core/links/page.ts'
import { textsFor } from '../../core/links/texts/catalogue.ts'
import { line } from '../../core/rest/query-schemas.ts'
import type { HandlerResult, RequestContext, Route, Tag } from '../../core/rest/route.ts'
import { page } from '../../core/rest/schemas.ts'
import {
  confirmPage,
  donePage,
  incompletePage,
  isOneClick,
  preferencePage,
  preferencePageQuery,
  requiredPage,
  unknownPage,
} from '../preferences/index.ts'
import type { Visit } from './machine-visit.ts'
import type { Pages } from './pages.ts'

/** Query of a link in a message. */
const linkQuery: z.ZodType<{ t: string; lang?: string | undefined }> = z.object({
  t: line.max(8_000).describe('The signed token of the link.'),
  lang: line
    .max(35)
    .optional()
    .describe('Language of the page. Default: that of the message, else by Accept-Language.'),
})

/** The methods of a notifier that the handlers use. */
type Served = { readonly pages: Pages }

const TAG: Tag = { name: 'Pages', description: 'Targets of signed links in messages.' }

/** Longer than any issued token, and close to the limit of a request line. */
const MAX_TOKEN = 8_000

/** RFC 8058 needs less than a quarter of this, even as multipart. */
const MAX_FORM = 4_096

/** Two hundred categories on a dozen channels, twice. */
const MAX_PREFERENCES = 256 * 1024

const MAX_LANGUAGE = 35

/** The token. Empty: missing or repeated. */
function tokenIn({ query }: RequestContext): string {
  const { t = '' } = query
  return typeof t === 'string' && t.length <= MAX_TOKEN ? t : ''
}

function langIn({ query: { lang } }: RequestContext): string | null {
  return typeof lang === 'string' ? lang.slice(0, MAX_LANGUAGE) : null
}

/** The query of a link to the preference page, in the language of this one. */
function queryFor(token: string, context: RequestContext): string {
  const lang = langIn(context)
  return `?t=${encodeURIComponent(token)}${lang === null ? '' : `&lang=${encodeURIComponent(lang)}`}`
}

/** The texts for the visitor. `lang` in the link chooses the language, then its message, then the browser. */
async function textsOf(context: RequestContext, { pages }: Served): Promise<PageLook> {
  const { locale, branding } = await pages.frameOf(tokenIn(context))
  const wanted = [langIn(context), locale].filter((name) => name !== null)
  return { ...textsFor(pages.texts, wanted, context.request.header('accept-language')), branding }
}

/** Address of the preference page, seen from the page of an unsubscription. Null: none. */
async function managingUrl(context: RequestContext, { pages }: Served): Promise<string | null> {
  const token = await pages.preferencesToken(tokenIn(context))
  return token === null ? null : `preferences${queryFor(token, context)}`
}

/** GET never unsubscribes: scanners follow every link in a mail. */
async function ask(context: RequestContext, notifier: Served): Promise<HandlerResult> {
  const { pages } = notifier
  const token = tokenIn(context)
  const texts = await textsOf(context, notifier)
  const answer = await pages.unsubscription(token)
  if (answer === 'unknown') return unknownPage(texts)
  const managing = await managingUrl(context, notifier)
  return answer === 'required' ? requiredPage(200, texts, managing) : confirmPage(texts, managing)
}

async function unsubscribe(context: RequestContext, notifier: Served): Promise<HandlerResult> {
  const { pages } = notifier
  const token = tokenIn(context)
  const texts = await textsOf(context, notifier)
  const complete = isOneClick(context.bytes)
  const answer = complete ? await pages.unsubscribe(token) : await pages.unsubscription(token)
  if (answer === 'unknown') return unknownPage(texts)
  const managing = await managingUrl(context, notifier)
  // No success status, because a mail program would tell its user that the messages end.
  if (answer === 'required') return requiredPage(409, texts, managing)
  return complete ? donePage(texts, managing) : incompletePage(texts)
}

async function preferences(context: RequestContext, notifier: Served): Promise<HandlerResult> {
  const texts = await textsOf(context, notifier)
  const page = await notifier.pages.preferences(tokenIn(context))
  return page === null ? unknownPage(texts) : preferencePage(texts, page, context.query.saved === '1')
}

/** Answers with a redirect, so that reloading the page posts nothing again. */
async function savePreferences(context: RequestContext, notifier: Served): Promise<HandlerResult> {
  const token = tokenIn(context)
  const form = new URLSearchParams(Buffer.from(context.bytes).toString('utf8'))
  if (!(await notifier.pages.savePreferences(token, postOf(form))))
    return unknownPage(await textsOf(context, notifier))
  const location = `${queryFor(token, context)}&saved=1`
  return {
    text: { contentType: 'text/plain; charset=utf-8', content: '' },
    headers: { ...PRIVATE, Location: location },
  }
}

function postOf(form: URLSearchParams) {
  if (form.has('none')) return 'none'
  return { on: new Set(form.getAll('on')), was: new Set((form.get('was') ?? '').split(' ')) }
}

/** A transparent 1×1 GIF. */
const PIXEL = Buffer.from('R0lGODlhAQABAIAAAP///wAAACH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==', 'base64')
const PRIVATE = { 'Referrer-Policy': 'no-referrer', 'X-Robots-Tag': 'noindex' }

function visitOf({ request }: RequestContext): Visit {
  const purpose = `${request.header('purpose') ?? ''} ${request.header('sec-purpose') ?? ''}`
  return {
    userAgent: request.header('user-agent'),
    counts: request.method !== 'HEAD' && !purpose.toLowerCase().includes('prefetch'),
  }
}

async function open(context: RequestContext, notifier: Served): Promise<HandlerResult> {
  if (!(await notifier.pages.opened(tokenIn(context), visitOf(context))))
    return unknownPage(await textsOf(context, notifier))
  const text = { contentType: 'image/gif', content: PIXEL }
  return { text, headers: { ...PRIVATE, 'Cross-Origin-Resource-Policy': 'cross-origin' } }
}

async function click(context: RequestContext, notifier: Served): Promise<HandlerResult> {
  const target = await notifier.pages.clicked(tokenIn(context), visitOf(context))
  if (target === null) return unknownPage(await textsOf(context, notifier))
  return {
    text: { contentType: 'text/plain; charset=utf-8', content: '' },
    headers: { ...PRIVATE, Location: target },
  }
}

/** A mail provider fetches the images of all its users. */
const LINKS: RouteLimit = { name: 'links', perMinute: 6_000, underMaintenance: true }

const common = {
  tag: TAG,
  permission: 'public',
  needsNoKey: 'the link is signed',
  limit: LINKS,
  query: linkQuery,
  page: true,
  response: page,
  mediaType: '*/*',
} as const

export const pageRoutes: readonly Route<Served>[] = [
  {
    ...common,
    operation: 'askUnsubscribe',
    summary: 'Show the unsubscribe page; changes nothing',
    method: 'GET',
    paths: ['/unsubscribe'],
    status: 200,
    handler: ask,
  },
  {
    ...common,
    operation: 'unsubscribe',
    summary: 'Unsubscribe the recipient from a category with one click (RFC 8058)',
    method: 'POST',
    paths: ['/unsubscribe'],
    status: 200,
    otherwise: {
      status: 409,
      when: 'A page: the category is required, so nothing has changed.',
      response: page,
    },
    form: true,
    bodySize: MAX_FORM,
    handler: unsubscribe,
  },
  {
    ...common,
    query: preferencePageQuery,
    operation: 'showPreferencePage',
    summary: 'Show the preferences of a recipient; changes nothing',
    method: 'GET',
    paths: ['/preferences'],
    status: 200,
    handler: preferences,
  },
  {
    ...common,
    query: preferencePageQuery,
    operation: 'savePreferencePage',
    summary: 'Change the preferences of a recipient',
    method: 'POST',
    paths: ['/preferences'],
    status: 303,
    form: true,
    bodySize: MAX_PREFERENCES,
    handler: savePreferences,
  },
  {
    ...common,
    operation: 'open',
    summary: 'Return a tracking pixel and record that a mail was opened',
    method: 'GET',
    paths: ['/open'],
    status: 200,
    handler: open,
  },
  {
    ...common,
    operation: 'click',
    summary: 'Redirect to the target of a link in a mail and record the click',
    method: 'GET',
    paths: ['/click'],
    status: 302,
    handler: click,
  },
]
