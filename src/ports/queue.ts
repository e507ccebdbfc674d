/**
 * An existing queue engine that says when and where jobs are delivered, on many machines. It carries refs, never the
 * messages: the storage stays the truth. Every ref is claimed by id with a fencing token before anything is sent, so a
 * duplicate ref is harmless, and what a lost one named is found by the storage's own sweep, seconds later.
 *
 * Refs travel in sets: an engine does best to carry those of one announcement together.
 */
export interface Queue {
  /** For health and the log, for example `bullmq`. */
  readonly name: string
  /**
   * Adds to the engine inside the storage's own transaction, where the engine's tables are in the same database; then
   * {@link enqueue} is not called. The storage does it if it is of this kind.
   */
  readonly transactional?: TransactionalQueue | undefined
  /**
   * Prepares what every process needs, also one that does not deliver. Resolves although the engine's server is away,
   * unless something has to be prepared there. It has 30 seconds.
   *
   * @throws NotifierError `missing_peer`, `invalid_configuration`, or `service_unavailable` when a later try may succeed
   */
  open(): Promise<void>
  /**
   * Announces jobs after the commit that stored them. Rejects when it could not; may lose them. The caller waits for no
   * more than some seconds.
   */
  enqueue(refs: readonly JobRef[]): Promise<void>
  /**
   * Starts to hand refs over, each when it is due. A call of `handle` resolves when its refs have been claimed or left
   * to the storage, never when they have been delivered, and never rejects: refs that it had need not come again.
   *
   * @returns stops that, and resolves when no `handle` runs
   */
  work(worker: QueueWorker): Promise<() => Promise<void>>
  /** Closes what was opened. */
  close(): Promise<void>
}

export interface QueueWorker {
  handle(refs: readonly Pick<JobRef, 'jobId' | 'lane'>[]): Promise<void>
  /** Is told of faults behind the scenes; the engine goes on, or starts again, by itself. */
  onError(error: unknown): void
}

/** Names a stored job. */
export interface JobRef {
  /** As `Storage.claim` takes it. */
  readonly jobId: string
  readonly lane: string
  /** Milliseconds until it is due; 0: it is. */
  readonly dueInMs: number
}

/** How an engine adds jobs in a transaction of the storage. */
export interface TransactionalQueue {
  /** The `name` of the storages that can run it. */
  readonly storage: string
  /**
   * Runs its statements in the given transaction, which is rolled back when it rejects. Without refs it only checks that
   * it can.
   *
   * @throws NotifierError `invalid_configuration` when the engine's tables are not in this database
   */
  enqueue(
    run: (statement: string, values: readonly (string | number)[]) => Promise<readonly unknown[]>,
    refs: readonly JobRef[],
  ): Promise<void>
}
