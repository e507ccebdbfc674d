import { loadPeer } from './load-peer.ts'

/** An error that nobody hears ends the process. */
interface Hearable {
  on(event: 'error', listener: (error: Error) => void): unknown
}

/** What is used here of a `Pool` of `pg` 8. */
interface PgPool {
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'connect', listener: (client: Hearable) => void): unknown
  end(): Promise<void>
}

/** A pool in use, and how it is given back. */
export interface OpenPgPool<Pool> {
  readonly pool: Pool
  /** Closes it, unless it is the application's. */
  close(): Promise<void>
}

/** What the application gives as its pool: it may be of another class than the one of `pg`. */
interface GivenPool {
  /** `connect`: when a connection is ready, before anybody has it. */
  on?(event: 'connect', listener: (client: Hearable) => void): unknown
  removeListener?(event: 'connect', listener: (client: Hearable) => void): unknown
}

/** What is used of the package; whoever uses it says what a pool and a client are. */
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
  const { default: module } = await loadPeer('pg', () => import('pg'))
  return module as unknown as PgModule
}

/**
 * Takes the application's pool, or makes one with these options. No error of a connection that either has made ends the process.
 *
 * @param Pool whoever uses it says what of a pool it needs
 */
export async function openPgPool<Pool extends object>(
  given: (Pool & GivenPool) | undefined,
  options: object,
): Promise<OpenPgPool<Pool>> {
  if (given !== undefined) {
    given.on?.('connect', hearErrors)
    return { pool: given, close: async () => void given.removeListener?.('connect', hearErrors) }
  }
  const { Pool } = await loadPg()
  const pool = new Pool({ ...options, keepAlive: true })
  // An idle connection that the server closes is replaced.
  pool.on('error', () => {})
  pool.on('connect', hearErrors)
  return { pool: pool as Pool & PgPool, close: () => pool.end() }
}

/**
 * For the event `connect` of a pool. A server that shuts down may end a connection in the packet that says it is ready. Then
 * nobody has it yet, nor does the pool listen any more.
 */
function hearErrors(client: Hearable): void {
  client.on('error', () => {})
}
