import type { Visit } from '../../domain/machine-visit.ts'
import type { Service } from '../../services/service.ts'
import { isOneClick } from '../one-click.ts'
import { confirmPage, donePage, incompletePage, unknownPage } from '../pages.ts'
import { linkQuery } from '../schemas/query.ts'
import { page } from '../schemas/service.ts'
import type { HandlerResult, RequestContext, Route } from './route.ts'

/** Longer than any issued token, and close to the limit of a request line. */
const MAX_TOKEN = 8_000

/** RFC 8058 needs less than a quarter of this, even as multipart. */
const MAX_FORM = 4_096

/** The token. Empty: missing or repeated. */
function tokenIn({ query }: RequestContext): string {
  const { t = '' } = query
  return typeof t === 'string' && t.length <= MAX_TOKEN ? t : ''
}

/** GET never unsubscribes: scanners follow every link in a mail. */
async function ask(context: RequestContext, { pages }: Service): Promise<HandlerResult> {
  return (await pages.canUnsubscribe(tokenIn(context))) ? confirmPage : unknownPage
}

async function unsubscribe(context: RequestContext, { pages }: Service): Promise<HandlerResult> {
  const token = tokenIn(context)
  if (!(await pages.canUnsubscribe(token))) return unknownPage
  if (!isOneClick(context.bytes)) return incompletePage
  return (await pages.unsubscribe(token)) ? donePage : unknownPage
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

async function open(context: RequestContext, { pages }: Service): Promise<HandlerResult> {
  if (!(await pages.opened(tokenIn(context), visitOf(context)))) return unknownPage
  const text = { contentType: 'image/gif', content: PIXEL }
  return { text, headers: { ...PRIVATE, 'Cross-Origin-Resource-Policy': 'cross-origin' } }
}

async function click(context: RequestContext, { pages }: Service): Promise<HandlerResult> {
  const target = await pages.clicked(tokenIn(context), visitOf(context))
  if (target === null) return unknownPage
  return {
    text: { contentType: 'text/plain; charset=utf-8', content: '' },
    headers: { ...PRIVATE, Location: target },
  }
}

const common = {
  tag: 'Pages',
  permission: 'public',
  limit: 'links',
  query: linkQuery,
  page: true,
  response: page,
} as const

export const pageRoutes: readonly Route[] = [
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
    summary: 'Unsubscribe the recipient of a mail with one click (RFC 8058)',
    method: 'POST',
    paths: ['/unsubscribe'],
    status: 200,
    form: true,
    bodySize: MAX_FORM,
    handler: unsubscribe,
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
