import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { HttpApiOptions } from '../../../adapters/http/node.ts'
import type { Served } from '../../../src/core/lifecycle/notifier-internals.ts'

/** How an application has Carillon in it. */
export interface Mount {
  readonly notifier: Served
  /** Empty: at the root. */
  readonly prefix: string
  /** Where the application's own JSON parser stands. */
  readonly parser: 'none' | 'before' | 'after'
  readonly http: HttpApiOptions
  /** The application's error handler puts what reaches it here. */
  readonly errors: unknown[]
  /** Requests that the application has not finished; counted where a framework waits for its handlers. */
  readonly active: { count: number }
}

export interface RunningHost {
  readonly url: string
  close(): Promise<void>
}

/**
 * A framework: an application of its own with Carillon mounted in it. Every application
 *
 * - adds `X-Host: yes` to every answer before Carillon is reached,
 * - answers `GET /host` with `{ host: true }` and `POST /host/echo` with `{ echo: <the parsed body> }`,
 * - fails in `GET /host/fails`, and its error handler answers 500 `{ hostError: true }`,
 * - answers everything else with 404 `{ hostMissing: true }`.
 */
export interface Harness {
  readonly name: string
  /** False: a parser of the application never gets to a body that is Carillon's, or cannot be there. */
  readonly parserReads: boolean
  /** What the framework itself does with requests before any application sees them. */
  readonly ownWays?: readonly ('bad-url' | 'methods')[]
  start(mount: Mount): Promise<RunningHost>
}

export async function listen(server: Server, close?: () => Promise<unknown>): Promise<RunningHost> {
  // A connection that only this would end has been forgotten.
  server.keepAliveTimeout = 60_000
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      server.closeAllConnections()
      await (close?.() ?? new Promise((resolve) => server.close(resolve)))
    },
  }
}
