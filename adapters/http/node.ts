import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Served } from '../../src/core/lifecycle/notifier-internals.ts'
import { serve } from '../../src/rest-api.ts'
import { handleNodeRequest } from './node-request.ts'
import { writeNodeResponse } from './node-response.ts'
import { type MountOptions, mountOf } from './target.ts'

export type { HttpApiOptions } from '../../src/http/options.ts'
export type { MountOptions } from './target.ts'

/** A request listener for node:http, or a step before another listener. */
export type NotifierHandler = (req: IncomingMessage, res: ServerResponse, next?: () => void) => void

const NOT_FOUND = Object.freeze({
  status: 404,
  headers: { 'Content-Type': 'text/plain; charset=utf-8', 'Content-Length': '9' },
  body: 'Not Found',
})

/**
 * The REST API or the dashboard as a listener for `http.createServer()` and `https.createServer()`. Requests for other paths go to
 * `next`; without `next` they get a 404.
 *
 * @throws NotifierError `invalid_configuration`
 *
 * @example
 * createServer(notifierHandler(notifier, { prefix: '/notifications' })).listen(3000)
 */
export function notifierHandler(notifier: Served, options: MountOptions = {}): NotifierHandler {
  const { http, belowPrefix } = mountOf(options)
  const api = serve(notifier, http)
  return function carillon(req, res, next) {
    const url = belowPrefix(req.url ?? '/')
    if (url !== null && handleNodeRequest(api, req, res, url)) return
    if (next === undefined) writeNodeResponse(req, res, NOT_FOUND)
    else next()
  }
}
