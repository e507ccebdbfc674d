import type { AccountLimits } from './model.ts'

export interface Limits {
  /**
   * The plan and its use.
   *
   * @throws NotifierError `not_found`
   *
   * @example
   * const { plan, limits } = await notifier.limits.get()
   * console.log(plan, limits)
   */
  get(): Promise<AccountLimits>
}
