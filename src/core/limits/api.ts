import type { AccountLimits } from './model.ts'

export interface Limits {
  /** The plan and its use. @throws NotifierError `not_found` */
  get(): Promise<AccountLimits>
}
