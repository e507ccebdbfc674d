import { loadPeer } from '../../peer/load-peer.ts'

/** What is used of graphile-worker 0.16 to 0.18: types of their own, so that the declarations need no package. */
export interface GraphileModule {
  run(options: object): Promise<GraphileRunner>
  makeWorkerUtils(options: object): Promise<GraphileUtils>
  readonly Logger: new (factory: () => () => void) => object
}

/** What it takes as a pool is one of `pg` 8; what is looked at here is how it connects. */
export interface GraphilePool {
  /** With the function to call, as it connects to listen, or with a promise. */
  connect(connected?: GraphileConnected): unknown
}

/** Without a client, and from a pool that has ended without `release`, where there is an error. */
export type GraphileConnected = (
  error: Error | undefined,
  client: unknown,
  release: ((destroy?: unknown) => void) | undefined,
) => void

export interface GraphileRunner {
  stop(): Promise<void>
  /** Ends when the runner has: rejected after a fault. */
  readonly promise: Promise<void>
}

export interface GraphileUtils {
  withPgClient<Answer>(work: (client: GraphileClient) => Promise<Answer>): Promise<Answer>
  release(): unknown
}

export interface GraphileClient {
  query(text: string, values: unknown[]): Promise<{ readonly rows: unknown[] }>
}

/** @throws NotifierError `missing_peer` with the command that installs it */
export async function loadGraphile(): Promise<GraphileModule> {
  return (await loadPeer('graphile-worker', () => import('graphile-worker'))) as unknown as GraphileModule
}
