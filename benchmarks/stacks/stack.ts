/** A whole service, as one process of it sees it. Several processes of a stack share their servers. */
export interface Stack {
  /** Serves `POST /v1/notify`; gives the port and a key. */
  serve(key: string | null): Promise<{ readonly port: number; readonly key: string }>
  /** Accepts so many notifications as one batch, and answers when they are stored and queued. */
  batch(count: number): Promise<void>
  /** Begins to deliver, with a provider that does nothing; `delivered` follows each, once its end is stored. */
  work(delivered: () => void): Promise<void>
  /** Delivers no more. */
  rest(): Promise<void>
  close(): Promise<void>
}

/** Where a stack's servers are. */
export interface Servers {
  readonly postgres: string
  readonly redis: string
}

/** Notifications under way at one time. */
export const CONCURRENT = 1_000

export const PATH = '/v1/notify'
