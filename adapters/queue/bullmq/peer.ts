import { loadPeer } from '../../peer/load-peer.ts'

/** What is used of BullMQ 5 and 6, and of ioredis: types of their own, so that the declarations need no package. */
export interface BullmqModule {
  readonly Queue: new (
    name: string,
    options: object,
  ) => Closable & { addBulk(jobs: readonly BulkJob[]): Promise<unknown> }
  readonly Worker: new (
    name: string,
    processor: (job: { readonly data: unknown }) => Promise<void>,
    options: object,
  ) => Closable
}

export interface Closable {
  on(event: 'error', listener: (error: unknown) => void): unknown
  close(force?: boolean): Promise<void>
}

export interface BulkJob {
  readonly name: string
  readonly data: unknown
  readonly opts: object
}

/** What is used of a `Redis` of ioredis. */
export interface BullmqConnection {
  /** `ready`, or why commands would wait. */
  readonly status: string
  /** True of a `Cluster`, which is not one. */
  readonly isCluster?: boolean | undefined
  readonly options?: { readonly keyPrefix?: string | undefined } | undefined
  duplicate(options: object): BullmqConnection
  on(event: 'error', listener: (error: unknown) => void): unknown
  disconnect(): void
}

/** @throws NotifierError `missing_peer` with the command that installs it */
export async function loadBullmq(): Promise<BullmqModule> {
  return (await loadPeer('bullmq', () => import('bullmq'))) as unknown as BullmqModule
}
