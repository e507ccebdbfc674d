import type { ResolvedOptions } from './options.ts'
import { loadPg, type PgClient, type PgListener, type PgPool } from './peer.ts'

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
  const { Pool } = await loadPg()
  const pool = new Pool({
    connectionString,
    max: maxConnections,
    // A little after the storage has given up and said why.
    connectionTimeoutMillis: connectTimeoutMs + 200,
    keepAlive: true,
    application_name: 'carillon',
  })
  // An idle connection that the server closes is replaced; without a listener it would end the process.
  pool.on('error', () => {})
  pool.on('connect', hearErrors)
  return { pool, close: () => pool.end() }
}

/**
 * A server that shuts down may end a connection in the packet that says it is ready. Then nobody has it yet, nor does the pool
 * listen any more, and the error would end the process.
 */
function hearErrors(client: PgClient): void {
  client.on('error', () => {})
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
  })
  // Until it is taken into use: an error must not end the process.
  client.on('error', () => {})
  await client.connect()
  return client
}
