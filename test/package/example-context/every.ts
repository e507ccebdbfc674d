// What examples in the documentation of functions use without declaring it.
import type { Notifier, Provider } from 'carillon'
import type { SmtpOptions } from 'carillon/smtp'
import type { Express } from 'express'
import type { FastifyInstance } from 'fastify'
import type Koa from 'koa'

export { createHmac } from 'node:crypto'
export { readFile } from 'node:fs/promises'
export { createServer } from 'node:http'
export { test } from 'node:test'
export { z } from 'zod'

export declare const notifier: Notifier
export declare const provider: Provider
export declare const app: Express
export declare const fastify: FastifyInstance
export declare const koa: Koa
export declare const request: Request
export declare const secret: string
export declare const apiKey: string
export declare const connectionString: string

/** The provider of docs/tasks/custom-provider.md. */
export declare function acmeSms(options: { apiKey: string; url?: string }): Provider
export declare function migrateOrders(): Promise<void>
export declare function settingsOf(organizationId: string): Promise<SmtpOptions | null>
export declare function store(event: unknown): Promise<void>
