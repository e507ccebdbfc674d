import type { Statistics } from './model.ts'

/** Counts for an overview, bounded so that they stay cheap. */
export interface StatisticsApi {
  /**
   * The counts of the last 24 hours, why notifications failed, and what waits.
   *
   * @example
   * const { hours, waiting } = await notifier.statistics.get()
   * console.log(hours.at(-1)?.sent, waiting.due)
   */
  get(): Promise<Statistics>
}
