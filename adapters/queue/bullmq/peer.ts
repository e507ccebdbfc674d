import { peerFault } from '../../peer/peer-fault.ts'

/** The members in use of BullMQ 5 and 6 and of ioredis, so that the declarations need neither package. */
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

/** The members in use of a `Redis` of ioredis. */
export interface BullmqConnection {
  /** `ready`, or a state in which commands would wait. */
  readonly status: string
  /** True for a `Cluster`, which BullMQ cannot use here. */
  readonly isCluster?: boolean | undefined
  readonly options?: { readonly keyPrefix?: string | undefined } | undefined
  duplicate(options: object): BullmqConnection
  on(event: 'error', listener: (error: unknown) => void): unknown
  disconnect(): void
}

/** @throws NotifierError `missing_peer` with the command that installs it */
export async function loadBullmq(): Promise<BullmqModule> {
  try {
    return (await import(/* turbopackOptional: true */ 'bullmq')) as unknown as BullmqModule
  } catch (cause) {
    throw peerFault('bullmq', cause)
  }
}
