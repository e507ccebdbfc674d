import { LINK_ROUTE, langIn, lookOf, PRIVATE, tokenIn, unknownPage } from '../../core/links/link-routes.ts'
import type { PageLook } from '../../core/links/page.ts'
import type { PageTextsByLanguage } from '../../core/links/page-texts.ts'
import { formFields } from '../../core/rest/form-fields.ts'
import type { FormBody, HandlerResult, RequestContext, Route } from '../../core/rest/route.ts'
import { page } from '../../core/rest/schemas.ts'
import type { Pages } from './link-pages.ts'
import { isOneClick } from './one-click.ts'
import type { PreferencePost } from './page.ts'
import { type PostedBefore, preferencePage } from './page-view.ts'
import { preferencePageQuery, SAVED } from './query-schemas.ts'
import { type ChosenHours, chosenHours } from './quiet-form.ts'
import { MOST_UNDO } from './undo.ts'
import { confirmPage, donePage, incompletePage, requiredPage, undonePage } from './unsubscribe-view.ts'

/** The methods of a notifier that the handlers use. */
type Served = { readonly pages: Pages; readonly pageTexts: PageTextsByLanguage }

/** RFC 8058 needs less than a quarter of this, even as multipart, and an undo three quarters. */
const MAX_FORM = 4_096

const URL_ENCODED = 'application/x-www-form-urlencoded'

const ONE_CLICK: FormBody = {
  fields: {
    type: 'object',
    properties: {
      'List-Unsubscribe': { type: 'string', const: 'One-Click' },
      undo: { type: 'string', description: 'Instead of it: what the page after a click has to undo it.' },
    },
  },
  incomplete: [400],
}

const PREFERENCES: FormBody = {
  fields: {
    type: 'object',
    description: 'The fields of the page.',
    properties: {
      was: { type: 'string', description: 'The cells `category:channel` that the page showed as on.' },
      on: { type: 'array', items: { type: 'string' }, description: 'Those that are on.' },
      none: { type: 'string', description: 'Instead of both: turns everything optional off.' },
      undo: { type: 'string', description: 'Instead of the others: the token that undoes an earlier post.' },
    },
  },
  incomplete: [415, 422],
}

/** Two hundred categories on a dozen channels, twice. */
const MAX_PREFERENCES = 256 * 1024

/** One for each of these cells, and those of the quiet hours. */
const MOST_FIELDS = 4_096

/** The query of a link to the preference page, in the language of this one. */
function queryFor(token: string, context: RequestContext): string {
  const lang = langIn(context)
  return `?t=${encodeURIComponent(token)}${lang === null ? '' : `&lang=${encodeURIComponent(lang)}`}`
}

async function lookFor(context: RequestContext, { pages, pageTexts }: Served): Promise<PageLook> {
  return lookOf(context, pageTexts, await pages.frameOf(tokenIn(context)))
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
  const texts = await lookFor(context, notifier)
  const { answer, topic } = await pages.unsubscription(token)
  if (answer === 'unknown') return unknownPage(texts)
  const about = { topic, managing: await managingUrl(context, notifier) }
  return answer === 'required' ? requiredPage(200, texts, about) : confirmPage(texts, about)
}

async function unsubscribe(context: RequestContext, notifier: Served): Promise<HandlerResult> {
  const { pages } = notifier
  const token = tokenIn(context)
  const texts = await lookFor(context, notifier)
  const undo = formFields(context.bytes, MOST_FIELDS)?.get('undo')
  if (typeof undo === 'string') return undoUnsubscription(undo, texts, context, notifier)
  const complete = isOneClick(context.bytes)
  const done = complete
    ? await pages.unsubscribe(token)
    : { ...(await pages.unsubscription(token)), undo: null }
  if (done.answer === 'unknown') return unknownPage(texts)
  const about = { topic: done.topic, managing: await managingUrl(context, notifier) }
  // No success status, because a mail program would tell its user that the messages end.
  if (done.answer === 'required') return requiredPage(409, texts, about)
  return complete ? donePage(texts, about, done.undo) : incompletePage(texts, about)
}

async function undoUnsubscription(
  undo: string,
  texts: PageLook,
  context: RequestContext,
  notifier: Served,
): Promise<HandlerResult> {
  const { pages } = notifier
  const token = tokenIn(context)
  const isUndone = await pages.undo(token, undo)
  if (isUndone === null) return unknownPage(texts)
  const { topic } = await pages.unsubscription(token)
  return undonePage(texts, { topic, managing: await managingUrl(context, notifier) }, isUndone)
}

async function preferences(context: RequestContext, notifier: Served): Promise<HandlerResult> {
  const texts = await lookFor(context, notifier)
  const page = await notifier.pages.preferences(tokenIn(context))
  return page === null ? unknownPage(texts) : preferencePage(texts, page, postedIn(context))
}

function postedIn({ query: { saved, undo } }: RequestContext): PostedBefore {
  return {
    saved: SAVED.find((each) => each === saved) ?? null,
    undo: typeof undo === 'string' && undo.length <= MOST_UNDO ? undo : null,
  }
}

/** Answers with a redirect, so that reloading the page posts nothing again. */
async function savePreferences(context: RequestContext, notifier: Served): Promise<HandlerResult> {
  const token = tokenIn(context)
  const form = formIn(context)
  if (typeof form === 'number') return unread(form, context, notifier)
  const posted = await postedBy(form, token, notifier)
  if (posted === null) return unknownPage(await lookFor(context, notifier))
  const { saved, undo } = posted
  const undoing = undo === null ? '' : `&undo=${encodeURIComponent(undo)}`
  const location = `${queryFor(token, context)}&saved=${saved}${undoing}`
  return {
    text: { contentType: 'text/plain; charset=utf-8', content: '' },
    headers: { ...PRIVATE, Location: location },
  }
}

/** Null: an invalid link. */
async function postedBy(
  form: URLSearchParams,
  token: string,
  { pages }: Served,
): Promise<PostedBefore | null> {
  const undo = form.get('undo')
  if (undo !== null) {
    const isUndone = await pages.undo(token, undo)
    return isUndone === null ? null : { saved: isUndone ? 'undone' : 'changed', undo: null }
  }
  const quietHours = chosenHours(form)
  const done = await pages.savePreferences(token, postOf(form, quietHours))
  return done && { ...done, saved: quietHours === 'wrong' ? 'partly' : 'all' }
}

/** The posted form, or the status that refuses it. A parser of the host may have read a form in parts. */
function formIn({ request, bytes }: RequestContext): URLSearchParams | 415 | 422 {
  const [type = ''] = (request.header('content-type') ?? URL_ENCODED).toLowerCase().split(';')
  const isRead = request.parsedBody !== undefined && type.trim() === 'multipart/form-data'
  if (type.trim() !== URL_ENCODED && !isRead) return 415
  const form = formFields(bytes, MOST_FIELDS)
  return form !== null && ['was', 'none', 'undo'].some((name) => form.has(name)) ? form : 422
}

async function unread(status: 415 | 422, context: RequestContext, notifier: Served): Promise<HandlerResult> {
  const texts = await lookFor(context, notifier)
  const page = await notifier.pages.preferences(tokenIn(context))
  return page === null
    ? unknownPage(texts)
    : preferencePage(texts, page, { saved: 'nothing', undo: null }, status)
}

function postOf(form: URLSearchParams, quietHours: ChosenHours): PreferencePost {
  if (form.has('none')) return 'none'
  return {
    on: new Set(form.getAll('on')),
    was: new Set((form.get('was') ?? '').split(' ', MOST_FIELDS)),
    quietHours: quietHours === 'same' || quietHours === 'wrong' ? undefined : quietHours,
  }
}

export const preferencePageRoutes: readonly Route<Served>[] = [
  {
    ...LINK_ROUTE,
    operation: 'askUnsubscribe',
    summary: 'Show the unsubscribe page; changes nothing',
    method: 'GET',
    paths: ['/unsubscribe'],
    status: 200,
    handler: ask,
  },
  {
    ...LINK_ROUTE,
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
    form: ONE_CLICK,
    bodySize: MAX_FORM,
    handler: unsubscribe,
  },
  {
    ...LINK_ROUTE,
    query: preferencePageQuery,
    operation: 'showPreferencePage',
    summary: 'Show the preferences of a recipient; changes nothing',
    method: 'GET',
    paths: ['/preferences'],
    status: 200,
    handler: preferences,
  },
  {
    ...LINK_ROUTE,
    query: preferencePageQuery,
    operation: 'savePreferencePage',
    summary: 'Change the preferences of a recipient',
    method: 'POST',
    paths: ['/preferences'],
    status: 303,
    form: PREFERENCES,
    bodySize: MAX_PREFERENCES,
    handler: savePreferences,
  },
]
