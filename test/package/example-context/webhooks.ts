import type { IncomingMessage } from 'node:http'
import type { Middleware } from 'koa'

export declare const rawBody: string
export declare const request: IncomingMessage
export declare const router: { post(path: string, middleware: Middleware): void }
