import type { List } from '../../core/records/list.ts'
import type { Refusal, RefusalQuery } from './model.ts'

/** Messages that were refused. */
export interface Refusals {
  /**
   * The last 100 of the organization, latest first; fewer if they are long. A refusal is stored after about a second, so one
   * before a crash may be missing. They end with `logDays`.
   *
   * @throws NotifierError `invalid_parameter`, `invalid_channel`
   *
   * @example
   * const { items } = await notifier.refusals.list({ channel: 'email', to: 'ada@example.com' })
   * for (const { at, code, message } of items) console.log(at, code, message)
   */
  list(query?: RefusalQuery): Promise<List<Refusal>>
}
