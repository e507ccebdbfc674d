import type { IncomingMessage, ServerResponse } from 'node:http'
import { createHttpApi } from '../../src/http/api.ts'
import type { Served } from '../../src/services/engine.ts'
import { NodeHttpRequest } from './node-request.ts'
import { isPlainAnswer, keepHostPolicy, writeNodeResponse } from './node-response.ts'
import { type MountOptions, mountOf } from './target.ts'

export type { HttpApiOptions } from '../../src/http/options.ts'
export type { MountOptions } from './target.ts'

/** What is used of a context of Koa 2 and 3. */
export interface KoaContext {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly request: object
  status: number
  body: unknown
  respond?: boolean | undefined
  set(headers: Record<string, string>): unknown
}

/** A middleware of Koa 2 and 3. Typed by what it needs, so that neither version's types are. */
export type NotifierMiddleware = (ctx: KoaContext, next: () => Promise<unknown>) => Promise<void>

/**
 * The REST API as a Koa middleware. Paths that are not the API's go on to the application. No body parser is needed;
 * one that runs before does no harm. Under `koa-mount` leave `prefix` out: it cuts the prefix off itself.
 *
 * @throws NotifierError `invalid_configuration`
 *
 * @example
 * app.use(notifierMiddleware(notifier, { prefix: '/notifications' }))
 */
export function notifierMiddleware(notifier: Served, options: MountOptions = {}): NotifierMiddleware {
  const { http, belowPrefix } = mountOf(options)
  const api = createHttpApi(notifier, http)
  return async function carillon(ctx, next) {
    const { req, res } = ctx
    const url = belowPrefix(req.url ?? '/')
    const { body } = ctx.request as { body?: unknown }
    const answer = url === null ? null : api.handle(new NodeHttpRequest(req, res, url, body))
    if (answer === null) {
      await next()
      return
    }
    const response = await answer
    if (!isPlainAnswer(req, res)) {
      ctx.respond = false
      writeNodeResponse(req, res, response)
      return
    }
    ctx.status = response.status
    ctx.set(keepHostPolicy(res, response.headers))
    if (response.body !== null) ctx.body = response.body
  }
}
