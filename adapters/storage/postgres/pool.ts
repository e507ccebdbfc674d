import { loadPg, type OpenPgPool, openPgPool } from '../../peer/pg.ts'
import type { ResolvedOptions } from './options.ts'
import type { PgListener, PgPool } from './peer.ts'

/** Uses the application's pool, or creates one. */
export function openPool({
  pool,
  connectionString,
  maxConnections,
  connectTimeoutMs,
}: ResolvedOptions): Promise<OpenPgPool<PgPool>> {
  return openPgPool(pool, {
    connectionString,
    max: maxConnections,
    // A little longer than the storage's own timeout, whose error is clearer.
    connectionTimeoutMillis: connectTimeoutMs + 200,
    application_name: 'carillon',
  })
}

/** Opens a connection for LISTEN, in addition to the pool. */
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
  // Until the caller adds its own listener, an error must not end the process.
  client.on('error', () => {})
  await client.connect()
  return client
}
