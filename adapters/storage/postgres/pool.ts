import { hearErrors, loadPg, type OwnPgPool, openPgPool } from '../../peer/pg.ts'
import type { ResolvedOptions } from './options.ts'
import type { PgListener, PgPool } from './peer.ts'

/** A pool in use, and how it is given back. */
export interface OpenPool {
  readonly pool: PgPool
  /** Closes it, unless it is the application's. */
  close(): Promise<void>
}

/** Takes the application's pool, or makes one. */
export async function openPool(options: ResolvedOptions): Promise<OpenPool> {
  const { pool: given, connectionString, maxConnections, connectTimeoutMs } = options
  if (given !== undefined) {
    given.on?.('connect', hearErrors)
    return { pool: given, close: async () => void given.removeListener?.('connect', hearErrors) }
  }
  const pool = (await openPgPool({
    connectionString,
    max: maxConnections,
    // A little after the storage has given up and said why.
    connectionTimeoutMillis: connectTimeoutMs + 200,
    application_name: 'carillon',
  })) as OwnPgPool & PgPool
  return { pool, close: () => pool.end() }
}

/** Opens a connection that listens, beside the pool. */
export async function connectListener({
  connectionString,
  connectTimeoutMs,
}: ResolvedOptions): Promise<PgListener> {
  const { Client } = await loadPg()
  const client = new Client({
    connectionString,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    application_name: 'carillon listener',
  }) as PgListener
  // Until it is taken into use: an error must not end the process.
  client.on('error', () => {})
  await client.connect()
  return client
}
