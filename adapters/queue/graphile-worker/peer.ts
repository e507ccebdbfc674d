import { loadPeer } from '../../peer/load-peer.ts'

/** What is used of graphile-worker 0.16 to 0.18: types of their own, so that the declarations need no package. */
export interface GraphileModule {
  run(options: object): Promise<GraphileRunner>
  makeWorkerUtils(options: object): Promise<GraphileUtils>
  readonly Logger: new (factory: () => () => void) => object
}

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
