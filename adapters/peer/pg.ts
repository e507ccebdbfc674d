import { loadPeer } from './load-peer.ts'

/** An error that nobody hears ends the process. */
interface Hearable {
  on(event: 'error', listener: (error: Error) => void): unknown
}

/** What is used here of a `Pool` of `pg` 8. */
export interface OwnPgPool extends Hearable {
  on(event: 'error', listener: (error: Error) => void): unknown
  on(event: 'connect', listener: (client: Hearable) => void): unknown
  end(): Promise<void>
}

/** What is used of the package; whoever uses it says what a pool and a client are. */
interface PgModule {
  readonly Pool: new (options: object) => OwnPgPool
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

/** Makes a pool of which no error ends the process. */
export async function openPgPool(options: object): Promise<OwnPgPool> {
  const { Pool } = await loadPg()
  const pool = new Pool({ ...options, keepAlive: true })
  // An idle connection that the server closes is replaced.
  pool.on('error', () => {})
  pool.on('connect', hearErrors)
  return pool
}

/**
 * For the event `connect` of a pool. A server that shuts down may end a connection in the packet that says it is ready. Then
 * nobody has it yet, nor does the pool listen any more.
 */
export function hearErrors(client: Hearable): void {
  client.on('error', () => {})
}
