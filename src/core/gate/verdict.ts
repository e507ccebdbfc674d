import type { ChannelKind } from '../channels/channel-kind.ts'
import type { NotifierError } from '../errors/notifier-error.ts'
import type { Category } from '../notification/category.ts'
import type { Skip, Wait } from '../notification/notification.ts'
import type { RecordReads } from '../records/record-stores.ts'

/** A message to an address, before it goes there. */
export interface Asked {
  readonly organizationId: string
  readonly kind: ChannelKind
  readonly to: string
  /** The application's id of the person. Null: unknown. */
  readonly recipient: string | null
  readonly category: Category
  readonly metadata: Readonly<Record<string, string>> | null
  /** The time for which it is judged, in epoch milliseconds: now, or its `sendAt` if that is later. */
  readonly at: number
  /** True: the address gets a copy of the message. It is left out if it is refused or skipped, and waits for nothing. */
  readonly copy: boolean
}

/** What a judge says about a message to an address. */
export type Verdict =
  | { readonly kind: 'go' }
  /** It must not go. At the accept the send is refused with this error; later the notification fails with it. */
  | { readonly kind: 'refuse'; readonly error: NotifierError }
  /** It is not wanted: the notification ends as `skipped`. */
  | ({ readonly kind: 'skip' } & Skip)
  /** Not yet. */
  | ({ readonly kind: 'wait' } & Wait)

export const GO: Verdict = Object.freeze({ kind: 'go' })

/** What a judge reads. */
export interface JudgeContext {
  readonly records: RecordReads
  /** True: in a transaction of the caller, which must not wait for another connection. */
  readonly inside: boolean
}

/** Says of each message whether it may go, in order. Rejects if that is unknown: then nothing may go. */
export type Judge = (
  asked: readonly Asked[],
  context: JudgeContext,
) => readonly Verdict[] | Promise<readonly Verdict[]>

/** A judge by the feature that brings it. */
export interface NamedJudge {
  readonly name: string
  readonly judge: Judge
}
