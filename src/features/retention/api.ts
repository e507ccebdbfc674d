import type { RetentionPreview } from './model.ts'

/** What is removed because it is old. */
export interface RetentionApi {
  /**
   * Counts what the next pass of retention removes, and removes nothing. Looks at 10,000 rows of each kind at most; calls
   * within ten seconds share an answer.
   *
   * @throws NotifierError `not_found`
   *
   * @example
   * const { notifications } = await notifier.retention.preview()
   * console.log(`${notifications.removes} notifications are older than ${notifications.days} days`)
   */
  preview(): Promise<RetentionPreview>
}
