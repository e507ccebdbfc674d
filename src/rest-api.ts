import type { NotifierInternals, Served } from './core/lifecycle/notifier-internals.ts'
import { createApi, type HttpApi } from './http/api.ts'
import type { HttpApiOptions } from './http/options.ts'
import { ROUTES } from './routes.ts'
import { servedNotifier } from './served-notifier.ts'

/** An engine with an HTTP application other than the REST API. */
export interface ServingInternals extends NotifierInternals {
  serve(options: HttpApiOptions): HttpApi
}

/**
 * What an HTTP adapter mounts: the REST API of a notifier, or its dashboard.
 *
 * @throws NotifierError `invalid_configuration`
 */
export function serve(served: Served, options: HttpApiOptions = {}): HttpApi {
  const internals = served?.internals as Partial<ServingInternals> | undefined
  if (internals?.serve !== undefined) return internals.serve(options)
  const notifier = servedNotifier(served)
  return createApi(notifier, [...ROUTES, ...notifier.routes], options)
}
