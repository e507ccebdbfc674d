import { invalidOption } from '../core/errors/invalid-option.ts'
import { NotifierError } from '../core/errors/notifier-error.ts'
import {
  assertOptionNames,
  BOOLEAN,
  FUNCTION,
  type OptionNames,
  ofType,
} from '../core/errors/option-names.ts'
import type { Served } from '../core/lifecycle/notifier-internals.ts'
import { VERSION } from '../core/lifecycle/version.ts'
import type { HttpRequest, HttpResponse } from '../core/rest/message.ts'
import { createApi, type HttpApi } from '../http/api.ts'
import { acceptsScheme, httpsRequired, resolveClient } from '../http/client.ts'
import { type HttpApiOptions, resolveHttpOptions } from '../http/options.ts'
import type { ServingInternals } from '../rest-api.ts'
import { servedNotifier } from '../served-notifier.ts'
import { type Authorize, authenticateSession } from './access.ts'
import { assetResponse } from './assets.ts'
import { createRefusals } from './refusal.ts'
import { dashboardRoutes, isData } from './routes.ts'
import { isSameOrigin } from './same-origin.ts'
import { createShell } from './shell.ts'

export type { Access, Authorize } from './access.ts'

export interface DashboardOptions<Request = never> {
  /**
   * Decides each request by the application's own session. It receives the framework's request: that of Express,
   * node:http or Fastify, the context of Koa, or a `Request`. Null: the person may not enter.
   *
   * @default none
   */
  readonly authorize?: Authorize<Request> | undefined
  /** Path or URL of the application's own sign-in page, which the dashboard links to. @default none */
  readonly signInUrl?: string | undefined
  /** Lets people sign in with an API key or operator key. @default true */
  readonly keys?: boolean | undefined
  /** Path or URL at which the REST API is mounted: new keys are shown with a `curl` line for it. @default none */
  readonly apiUrl?: string | undefined
  /** Title of the pages. @default 'Carillon' */
  readonly title?: string | undefined
}

/** A dashboard. Give it to an HTTP adapter instead of the notifier. */
export interface Dashboard extends Served {
  /**
   * A link that signs its reader in with a key. It works once, within ten minutes.
   *
   * @param url where the dashboard is mounted
   * @param keyId id of an API key or operator key
   * @throws NotifierError `not_found`, `invalid_configuration` for an invalid URL, or where `keys` is false
   */
  signInLink(url: string, keyId: string): Promise<string>
}

const OPTIONS: OptionNames<DashboardOptions> = {
  authorize: FUNCTION,
  signInUrl: { expected: 'a path or an http or https URL', holds: isLocation },
  keys: BOOLEAN,
  apiUrl: { expected: 'a path or an http or https URL', holds: isLocation },
  title: ofType('string', 'a text'),
}

/**
 * Creates the dashboard of a notifier. Mount it with any HTTP adapter, at its own path.
 *
 * People sign in with an API key, or enter by `authorize`. Their permission holds for every action, as in the REST API.
 *
 * @throws NotifierError `invalid_configuration`
 *
 * @example
 * app.use('/dashboard', notifierRouter(dashboard(notifier)))
 */
export function dashboard<Request = never>(
  notifier: Served,
  options: DashboardOptions<Request> = {},
): Dashboard {
  assertOptionNames('dashboard()', options, OPTIONS)
  const served = servedNotifier(notifier)
  const { sessions } = served
  const { authorize, signInUrl = null, keys = true, apiUrl = null, title = 'Carillon' } = options
  if (!keys && authorize === undefined) throw wrong('authorize', 'set where "keys" is false')
  const authenticate = authenticateSession(sessions, authorize as Authorize<never> | undefined)
  const data = {
    keys: String(keys),
    ...(signInUrl === null ? {} : { 'sign-in': signInUrl }),
    ...(apiUrl === null ? {} : { api: apiUrl }),
  }
  const shell = createShell({ title, entry: 'app', data })

  function serve(given: HttpApiOptions): HttpApi {
    resolveHttpOptions(given)
    // The pages read nested errors.
    const httpOptions = { ...given, errorFormat: 'nested' } as const
    const resolved = resolveHttpOptions(httpOptions)
    const routes = dashboardRoutes(served.routes, authenticate, resolved, keys)
    const api = createApi(served, routes, httpOptions, authenticate)
    const refuse = createRefusals()

    function page(request: HttpRequest): HttpResponse {
      const client = resolveClient(request, resolved.trusted)
      if (!acceptsScheme(resolved.https, client, request)) {
        return refuse(httpsRequired(request, resolved.trusted))
      }
      const asset = /^\/assets\/([\w.-]+)$/.exec(request.path)?.[1]
      if (asset === undefined) return shell(request, client.secure)
      return assetResponse(asset, request) ?? refuse(new NotifierError('not_found'))
    }

    return {
      families: null,
      handle(request) {
        if (!isSameOrigin(request)) return Promise.resolve(refuse(new NotifierError('cross_site_request')))
        const reads = request.method === 'GET' || request.method === 'HEAD'
        if (reads && !isData(request.path)) return Promise.resolve(page(request))
        return api.handle(request) ?? Promise.resolve(refuse(new NotifierError('not_found')))
      },
    }
  }

  const internals: ServingInternals = { version: VERSION, serve }
  return {
    internals,
    async signInLink(url, keyId) {
      if (!keys) throw wrong('keys', 'true for links that sign in with a key')
      if (!URL.canParse(url)) throw wrong('url', 'the URL of the mounted dashboard')
      const base = url.endsWith('/') ? url : `${url}/`
      return `${base}#sign-in=${await sessions.invite(keyId)}`
    },
  }
}

function isLocation(url: unknown): boolean {
  if (typeof url !== 'string') return false
  return (
    URL.canParse(url, 'https://localhost') && /^https?:$/.test(new URL(url, 'https://localhost').protocol)
  )
}

function wrong(option: string, expected: string): NotifierError {
  return invalidOption(option, `The option "${option}" of the dashboard must be ${expected}.`)
}
