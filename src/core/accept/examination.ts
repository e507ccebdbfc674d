import type { NotifierError } from '../errors/notifier-error.ts'
import type { SendInput } from './input.ts'
import type { SendOptions } from './options.ts'
import type { Group } from './prepare.ts'

/** What a message would become, up to the gate. */
export interface Examination {
  readonly group: Group
  /** The limit that refuses it. Null: none does. */
  readonly limited: NotifierError | null
}

/** Messages that are not sent. */
export interface Examinations {
  /** @throws NotifierError as `send`, for what is wrong with the message */
  examine(
    organizationId: string,
    message: SendInput,
    options?: Pick<SendOptions<unknown>, 'strict'>,
  ): Promise<Examination>
}
