/** The start and stop of a notifier. */
export interface Running {
  /**
   * Opens the storage, migrates its schema and starts to deliver. Idempotent.
   *
   * @throws NotifierError `service_unavailable` if the storage or the queue cannot be opened, or a plug-in times out
   *   (the storage after ten minutes, others after 30 seconds); `not_started` after {@link stop} or during one;
   *   `invalid_configuration` for wrong options
   *
   * @example
   * await notifier.start() // accepts and delivers
   * await notifier.start({ deliver: false }) // accepts, while workers deliver
   */
  start(options?: StartOptions): Promise<void>
  /**
   * Stops accepting and claiming, waits for running attempts until the deadline, returns claimed jobs that have not
   * begun, and closes providers and storage. Idempotent. Queued notifications stay stored and are delivered after the
   * next start. Waits for a running start until the deadline; what it opens later is closed again.
   *
   * @throws NotifierError `invalid_configuration` for wrong options; nothing is stopped then
   *
   * @example
   * process.once('SIGTERM', () => notifier.stop({ timeoutMs: 20_000 }))
   */
  stop(options?: StopOptions): Promise<void>
  /**
   * Calls {@link stop}, for `await using`.
   *
   * @example
   * await using notifier = createNotifier({ channels: { email: provider } })
   * await notifier.start()
   */
  [Symbol.asyncDispose](): Promise<void>
  /**
   * Turns maintenance on or off. While it is on, all calls except this one and the links in mails are refused with
   * `service_unavailable`; delivery continues.
   *
   * @throws NotifierError `invalid_parameter` unless `on` is a boolean
   *
   * @example
   * notifier.maintenance(true)
   * await migrateOrders()
   * notifier.maintenance(false)
   */
  maintenance(on: boolean): void
}

export interface StartOptions {
  /** False: accepts and answers, and leaves delivery to other processes. Default true. */
  readonly deliver?: boolean | undefined
}

export interface StopOptions {
  /**
   * Longest wait for running attempts and calls, in milliseconds; then attempts are aborted. A second call of `stop`
   * can shorten it. Default 10 000.
   */
  readonly timeoutMs?: number | undefined
}
