import { peerFault } from './peer-fault.ts'

/** An `error` event without a listener ends the process. */
interface ErrorEmitter {
  on(event: 'error', listener: (error: Error) => void): unknown
}

/** The members in use of a `Pool` of `pg` 8. */
interface PgPool {
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'connect', listener: (client: ErrorEmitter) => void): unknown
  end(): Promise<void>
}

/** An open pool. */
export interface OpenPgPool<Pool> {
  readonly pool: Pool
  /** Closes the pool, unless the application owns it. */
  close(): Promise<void>
}

/** The application's pool, which may be of another class than that of `pg`. */
interface GivenPool {
  /** `connect` fires when a connection is ready, before any caller gets it. */
  on?(event: 'connect', listener: (client: ErrorEmitter) => void): unknown
  removeListener?(event: 'connect', listener: (client: ErrorEmitter) => void): unknown
}

/** The members in use of the package. The caller defines the pool and client types. */
interface PgModule {
  readonly Pool: new (options: object) => PgPool
  readonly Client: new (options: object) => unknown
}

/**
 * Loads `pg`.
 *
 * @throws NotifierError `missing_peer` with the command that installs it
 */
export async function loadPg(): Promise<PgModule> {
  try {
    const { default: module } = await import(/* turbopackOptional: true */ 'pg')
    return module as unknown as PgModule
  } catch (cause) {
    throw peerFault('pg', cause)
  }
}

/**
 * Uses the application's pool, or creates one with these options. Connection errors of either pool cannot end the
 * process.
 *
 * @param Pool the members of a pool that the caller needs
 */
export async function openPgPool<Pool extends object>(
  given: (Pool & GivenPool) | undefined,
  options: object,
): Promise<OpenPgPool<Pool>> {
  if (given !== undefined) {
    given.on?.('connect', ignoreErrors)
    return { pool: given, close: async () => void given.removeListener?.('connect', ignoreErrors) }
  }
  const { Pool } = await loadPg()
  const pool = new Pool({ ...options, keepAlive: true })
  // The pool replaces an idle connection that the server closes.
  pool.on('error', () => {})
  pool.on('connect', ignoreErrors)
  return { pool: pool as Pool & PgPool, close: () => pool.end() }
}

/**
 * Listener for a pool's `connect` event. A server that shuts down may end a connection in the packet that reports it as
 * ready. At that point neither the pool nor a caller listens for errors.
 */
function ignoreErrors(client: ErrorEmitter): void {
  client.on('error', () => {})
}
