import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import type { Served } from '../../src/core/lifecycle/notifier-internals.ts'
import { serve } from '../../src/rest-api.ts'
import { NodeHttpRequest } from './node-request.ts'
import { isPlainAnswer, keepHostPolicy, nodeBody, writeNodeResponse } from './node-response.ts'
import { type MountOptions, mountOf } from './target.ts'

export type { HttpApiOptions } from '../../src/http/options.ts'
export type { MountOptions } from './target.ts'

/** The members in use of a Koa 2 or 3 context. */
export interface KoaContext {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly request: object
  status: number
  body: unknown
  respond?: boolean | undefined
  set(headers: Record<string, string>): unknown
}

/** A middleware for Koa 2 and 3, typed structurally so that the declarations need neither version. */
export type NotifierMiddleware = (ctx: KoaContext, next: () => Promise<unknown>) => Promise<void>

/**
 * The REST API or the dashboard as a Koa middleware. Requests for other paths continue to the application. No body parser is needed; one
 * that runs earlier does no harm. Under `koa-mount`, omit `prefix`: `koa-mount` removes it.
 *
 * @throws NotifierError `invalid_configuration`
 *
 * @example
 * koa.use(notifierMiddleware(notifier, { prefix: '/notifications' }))
 */
export function notifierMiddleware(notifier: Served, options: MountOptions = {}): NotifierMiddleware {
  const { http, belowPrefix } = mountOf(options)
  const api = serve(notifier, http)
  return async function carillon(ctx, next) {
    const { req, res } = ctx
    const url = belowPrefix(req.url ?? '/')
    const answer = url === null ? null : api.handle(new NodeHttpRequest(req, res, url, ctx.request, ctx))
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
    const body = nodeBody(response, res)
    // Koa leaves a response open whose stream fails.
    if (body instanceof Readable) body.once('error', () => res.destroy())
    if (body !== null) ctx.body = body
  }
}
