import { peerFault } from '../../peer/peer-fault.ts'

/** The members in use of graphile-worker 0.16 to 0.18, so that the declarations do not need the package. */
export interface GraphileModule {
  run(options: object): Promise<GraphileRunner>
  makeWorkerUtils(options: object): Promise<GraphileUtils>
  readonly Logger: new (factory: () => () => void) => object
}

/** graphile-worker takes a `Pool` of `pg` 8. Only its `connect` matters here. */
export interface GraphilePool {
  /** graphile-worker passes a callback for its listening connection, and awaits a promise otherwise. */
  connect(connected?: GraphileConnected): unknown
}

/** On an error there is no client, and an ended pool passes no `release` either. */
export type GraphileConnected = (
  error: Error | undefined,
  client: unknown,
  release: ((destroy?: unknown) => void) | undefined,
) => void

export interface GraphileRunner {
  stop(): Promise<void>
  /** Resolves when the runner ends; rejects after a fault. */
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
  try {
    return (await import(/* turbopackOptional: true */ 'graphile-worker')) as unknown as GraphileModule
  } catch (cause) {
    throw peerFault('graphile-worker', cause)
  }
}
