import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Served } from '../../src/core/lifecycle/notifier-internals.ts'
import type { HttpApiOptions } from '../../src/http/options.ts'
import { serve } from '../../src/rest-api.ts'
import { handleNodeRequest } from './node-request.ts'

export type { HttpApiOptions } from '../../src/http/options.ts'

/** A middleware for Express 4 and 5, typed structurally so that the declarations need neither version. */
export type NotifierRouter = (
  req: IncomingMessage,
  res: ServerResponse,
  next: (error?: unknown) => void,
) => void

/**
 * The REST API or the dashboard as an Express middleware, for `app.use()` at the root or under a prefix. Requests for
 * other paths continue to the application. No body parser is needed; one that runs earlier does no harm.
 *
 * @throws NotifierError `invalid_configuration`
 *
 * @example
 * app.use('/notifications', notifierRouter(notifier))
 */
export function notifierRouter(notifier: Served, options?: HttpApiOptions): NotifierRouter {
  const api = serve(notifier, options)
  return function carillon(req, res, next) {
    if (!handleNodeRequest(api, req, res)) next()
  }
}
