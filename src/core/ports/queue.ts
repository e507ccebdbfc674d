/**
 * An existing queue engine that decides when and where jobs run, over many machines. It carries refs, never messages:
 * the storage remains the truth. A process claims every ref by id, with a fencing token, before it sends. So a
 * duplicate ref is harmless, and the storage's sweep finds the job of a lost ref within seconds.
 *
 * Refs come in sets. An engine should keep the refs of one `enqueue` together.
 */
export interface Queue {
  /** Name for health and logs, for example `bullmq`. */
  readonly name: string
  /**
   * Enqueues inside the storage's own transaction, if the engine's tables are in the same database. A storage of that
   * kind then calls this instead of {@link enqueue}.
   */
  readonly transactional?: TransactionalQueue | undefined
  /**
   * Prepares what every process needs, including those that do not deliver. Resolves even if the engine's server is
   * away, unless something must be created there. Timeout 30 seconds.
   *
   * @throws NotifierError `missing_peer`, `invalid_configuration`, or `service_unavailable` if a later try may succeed
   */
  open(): Promise<void>
  /**
   * Enqueues jobs after the commit that stored them. Rejects on failure; may lose refs. The caller waits for a few
   * seconds at most.
   */
  enqueue(refs: readonly JobRef[]): Promise<void>
  /**
   * Starts to pass each ref to the worker when it is due. A call of `handle` resolves once its refs are claimed or left
   * to the storage, not once they are delivered, and never rejects. Its refs need not come again.
   *
   * @returns a function that stops this; it resolves when no `handle` runs
   */
  work(worker: QueueWorker): Promise<() => Promise<void>>
  /** Closes what {@link open} opened. */
  close(): Promise<void>
}

export interface QueueWorker {
  handle(refs: readonly Pick<JobRef, 'jobId' | 'lane'>[]): Promise<void>
  /** Receives background errors; at most one a minute is reported. The engine continues or restarts by itself. */
  onError(error: unknown): void
}

/** Reference to a stored job. */
export interface JobRef {
  /** The id for `Storage.claim`. */
  readonly jobId: string
  readonly lane: string
  /** Milliseconds until the job is due; 0: it is due now. */
  readonly dueInMs: number
}

/** Enqueues in a transaction of the storage. */
export interface TransactionalQueue {
  /** The `name` of the storages that support it. */
  readonly storage: string
  /**
   * Runs its statements in the given transaction; a rejection rolls the transaction back. Without refs it only checks
   * that it can enqueue.
   *
   * @throws NotifierError `invalid_configuration` if the engine's tables are not in this database
   */
  enqueue(
    run: (statement: string, values: readonly (string | number)[]) => Promise<readonly unknown[]>,
    refs: readonly JobRef[],
  ): Promise<void>
}
