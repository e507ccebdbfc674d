/** One process of a service. Processes of one stack share their servers. */
export interface Stack {
  /** Serves `POST /v1/notify`. Returns the port and a key. */
  serve(key: string | null): Promise<{ readonly port: number; readonly key: string }>
  /** Accepts `count` notifications as one batch. Resolves when they are stored and queued. */
  batch(count: number): Promise<void>
  /** Starts to deliver with a no-op provider. Calls `delivered` after each stored delivery. */
  work(delivered: () => void): Promise<void>
  /** Stops delivering. */
  rest(): Promise<void>
  close(): Promise<void>
}

/** Addresses of a stack's servers. */
export interface Servers {
  readonly postgres: string
  readonly redis: string
}

/** Concurrent notifications. */
export const CONCURRENT = 1_000

export const PATH = '/v1/notify'
