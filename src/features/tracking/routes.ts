import {
  LINK_ROUTE,
  lookOf,
  type PageFrame,
  PRIVATE,
  tokenIn,
  unknownPage,
} from '../../core/links/link-routes.ts'
import type { PageTextsByLanguage } from '../../core/links/page-texts.ts'
import type { HandlerResult, RequestContext, Route } from '../../core/rest/route.ts'
import type { Visit } from './machine-visit.ts'
import type { Visits } from './visits.ts'

/** The methods of a notifier that the handlers use. */
type Served = { readonly visits: Visits; readonly pageTexts: PageTextsByLanguage }

/** An invalid token tells nothing of a message. */
const NO_FRAME: PageFrame = { locale: null, branding: null }

/** A transparent 1×1 GIF. */
const PIXEL = Buffer.from('R0lGODlhAQABAIAAAP///wAAACH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==', 'base64')

function visitOf({ request }: RequestContext): Visit {
  const purpose = `${request.header('purpose') ?? ''} ${request.header('sec-purpose') ?? ''}`
  return {
    userAgent: request.header('user-agent'),
    counts: request.method !== 'HEAD' && !purpose.toLowerCase().includes('prefetch'),
  }
}

async function open(context: RequestContext, notifier: Served): Promise<HandlerResult> {
  if (!(await notifier.visits.opened(tokenIn(context), visitOf(context))))
    return unknownPage(lookOf(context, notifier.pageTexts, NO_FRAME))
  const text = { contentType: 'image/gif', content: PIXEL }
  return { text, headers: { ...PRIVATE, 'Cross-Origin-Resource-Policy': 'cross-origin' } }
}

async function click(context: RequestContext, notifier: Served): Promise<HandlerResult> {
  const target = await notifier.visits.clicked(tokenIn(context), visitOf(context))
  if (target === null) return unknownPage(lookOf(context, notifier.pageTexts, NO_FRAME))
  return {
    text: { contentType: 'text/plain; charset=utf-8', content: '' },
    headers: { ...PRIVATE, Location: target },
  }
}

export const trackingRoutes: readonly Route<Served>[] = [
  {
    ...LINK_ROUTE,
    operation: 'open',
    summary: 'Return a tracking pixel and record that a mail was opened',
    method: 'GET',
    paths: ['/open'],
    status: 200,
    handler: open,
  },
  {
    ...LINK_ROUTE,
    operation: 'click',
    summary: 'Redirect to the target of a link in a mail and record the click',
    method: 'GET',
    paths: ['/click'],
    status: 302,
    handler: click,
  },
]
