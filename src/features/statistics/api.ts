import type { Statistics, StatisticsQuery } from './model.ts'

/** Counts for an overview, bounded so that they stay cheap. */
export interface StatisticsApi {
  /**
   * The counts of the last hour, 24 hours or 7 days, why notifications failed, how providers do, and what waits.
   *
   * @throws NotifierError `invalid_parameter`
   *
   * @example
   * const { successRate, providers, waiting } = await notifier.statistics.get({ period: '1h' })
   * console.log(successRate, providers[0]?.lastError, waiting.due)
   */
  get(query?: StatisticsQuery): Promise<Statistics>
}
