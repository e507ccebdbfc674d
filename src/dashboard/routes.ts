import * as z from 'zod'
import { NotifierError } from '../core/errors/notifier-error.ts'
import { parseInput } from '../core/input/parse.ts'
import type { RouteLimit } from '../core/limits/model.ts'
import { PUBLIC, REQUESTS } from '../core/limits/route-limits.ts'
import { formFields } from '../core/rest/form-fields.ts'
import type { HttpRequest } from '../core/rest/message.ts'
import type { HandlerResult, RequestContext, Route } from '../core/rest/route.ts'
import { ORGANIZATION_ID } from '../core/tenancy/organization.ts'
import type { Authenticate } from '../http/caller.ts'
import { resolveClient } from '../http/client.ts'
import type { ResolvedHttpOptions } from '../http/options.ts'
import { SERVICE_TAG } from '../http/service-routes.ts'
import { ROUTES } from '../routes.ts'
import type { ServedNotifier } from '../served-notifier.ts'
import { endedCookie, sessionCookie, sessionTokens } from './cookie.ts'
import { previewPage } from './preview.ts'

/** The path at which the dashboard serves the REST API to its own pages. */
const API = '/api'
/** An office may share an address. Too few for guessing. */
const SIGN_INS: RouteLimit = { name: 'sign-in', perMinute: 60 }
const MAX_PREVIEW_BYTES = 4 * 1024 * 1024
const MOST_PREVIEW_FIELDS = 8
/** Organizations of a person that are shown by name; more are shown by id. */
const MOST_NAMES = 100
const anything: z.ZodType = z.unknown()

const credentials = z.union([
  z.object({ apiKey: z.string().max(256) }),
  z.object({ invitation: z.string().max(1_024) }),
])

/** Routes of the REST API, with the permissions of the REST API. */
function underApi(routes: readonly Route<ServedNotifier>[]): readonly Route<ServedNotifier>[] {
  return routes
    .map((route) => ({
      ...route,
      paths: route.paths.filter((path) => path.startsWith('/v1/')).map((path) => `${API}${path}`),
    }))
    .filter(({ paths }) => paths.length > 0)
}

/** Names by id. Operators look them up. */
async function namesOf(ids: readonly string[], { organizations }: ServedNotifier) {
  const asked = ids.filter((id) => ORGANIZATION_ID.test(id)).slice(0, MOST_NAMES)
  const { items } = await organizations.list({ ids: asked, limit: MOST_NAMES })
  return Object.fromEntries(items.map(({ id, name }) => [id, name]))
}

/** The data that the pages request from the server. @param added operations that plug-ins add */
export function dashboardRoutes(
  added: readonly Route<ServedNotifier>[],
  authenticate: Authenticate,
  { trusted }: Pick<ResolvedHttpOptions, 'trusted'>,
  keys: boolean,
): readonly Route<ServedNotifier>[] {
  const clientOf = (request: HttpRequest) => resolveClient(request, trusted)

  /** Never the counted identity, which is for the server alone. */
  async function show({ request }: RequestContext, served: ServedNotifier): Promise<HandlerResult> {
    const { channels, kinds } = served
    const {
      id,
      name = id,
      permission,
      grants,
      organizations,
    } = await authenticate(request, clientOf(request))
    const names = organizations === 'all' ? {} : await namesOf(organizations, served)
    return { body: { actor: id, name, permission, grants, organizations, names, channels, kinds } }
  }

  async function begin(
    { request, body }: RequestContext,
    { sessions }: ServedNotifier,
  ): Promise<HandlerResult> {
    const given = parseInput(credentials, body)
    const token =
      'apiKey' in given ? await sessions.begin(given.apiKey) : await sessions.accept(given.invitation)
    return { body: { signedIn: true }, headers: { 'Set-Cookie': sessionCookie(token, clientOf(request)) } }
  }

  async function end({ request }: RequestContext, { sessions }: ServedNotifier): Promise<HandlerResult> {
    const client = clientOf(request)
    for (const token of sessionTokens(request, client)) await sessions.end(token)
    return { body: { signedIn: false }, headers: { 'Set-Cookie': endedCookie(client) } }
  }

  async function preview({ bytes }: RequestContext): Promise<HandlerResult> {
    const fields = formFields(bytes, MOST_PREVIEW_FIELDS)
    if (fields === null) {
      const message = `The form has more than ${MOST_PREVIEW_FIELDS} fields. It needs "html", and "scheme" for dark colours.`
      throw new NotifierError('invalid_parameter', { message })
    }
    return previewPage(fields.get('html') ?? '', fields.get('scheme') === 'dark' ? 'dark' : 'light')
  }

  const own = {
    tag: SERVICE_TAG,
    permission: 'public',
    limit: PUBLIC,
    status: 200,
    response: anything,
  } as const
  const session = { ...own, paths: ['/session'] }
  const signIn: Route<ServedNotifier> = {
    ...session,
    operation: 'beginSession',
    summary: 'Sign in',
    method: 'POST',
    limit: SIGN_INS,
    body: credentials,
    bodySize: 4_096,
    handler: begin,
  }
  return [
    ...underApi([...ROUTES, ...added]),
    { ...session, operation: 'getSession', summary: 'Tell who is signed in', method: 'GET', handler: show },
    { ...session, operation: 'endSession', summary: 'Sign out', method: 'DELETE', handler: end },
    ...(keys ? [signIn] : []),
    {
      ...own,
      belongsTo: 'organization',
      permission: 'Read Only',
      limit: REQUESTS,
      operation: 'showPreview',
      summary: 'Show HTML in a sandbox',
      method: 'POST',
      paths: ['/preview'],
      form: { fields: { type: 'object' }, incomplete: [] },
      page: true,
      bodySize: MAX_PREVIEW_BYTES,
      handler: preview,
    },
  ]
}

/** Paths of {@link dashboardRoutes}; every other one is a page. */
export function isData(path: string): boolean {
  return /^\/(?:api|session|preview)(?:\/|$)/.test(path)
}
