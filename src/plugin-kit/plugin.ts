import type { SendInput } from '../core/accept/input.ts'
import type { SentNotification } from '../core/accept/model.ts'
import type { SendOptions } from '../core/accept/options.ts'
import type { NotifierError, NotifierErrorOptions } from '../core/errors/notifier-error.ts'
import type { NotificationRecord } from '../core/notification/model.ts'
import type { PluginJudge } from './judge.ts'
import type { PluginDueHandler, PluginRecords, PluginStore, PluginWrites } from './records.ts'
import type { PluginRoute } from './route.ts'

/** An error of a plug-in: the HTTP status (400 to 499), the fault and the remedy, each in one sentence. */
export type PluginError = readonly [status: number, message: string, action: string]

/** Methods of a plug-in. The first argument is the id of an organization, the rest is what callers pass. */
export type PluginApi = Readonly<Record<string, (organizationId: string, ...input: never[]) => unknown>>

/** What a plug-in is made of. Its methods reject while the notifier does not run. */
export interface PluginCore<Code extends string = string> {
  /** The records of one of its kinds. Writes share commits with those of other callers. */
  records<Value extends object>(kind: PluginRecords<Value>): PluginStore<Value>
  /** Epoch milliseconds by the clock of the notifier. */
  now(): number
  /** A new id that cannot be guessed: the prefix, 1 to 8 lower-case letters, `_` and 22 characters. */
  newId(prefix: string): string
  /** One of its errors. @param options replace the message and status of the definition */
  error(code: Code, options?: NotifierErrorOptions): NotifierError
  /** @throws NotifierError `not_found` for an organization that does not exist or is being deleted */
  assertOrganization(id: string): Promise<void>
  /** @throws NotifierError `notification_not_found` */
  notification(organizationId: string, id: string): Promise<NotificationRecord>
  /** An address in the spelling in which judges see it. @throws NotifierError `invalid_channel` */
  addressOf(channel: string, to: string): string
  /** Sends as `notifier.organization(id).send()`. */
  send(
    organizationId: string,
    message: SendInput,
    options?: Pick<SendOptions<never>, 'idempotencyKey'>,
  ): Promise<SentNotification>
  /**
   * Accepts messages and stores records in one commit: all of it, or nothing. A judge asked about these messages does not see
   * these records yet.
   *
   * @returns the ids of the notifications, in the order of the messages; `taken`: nothing was stored, because a record has the
   *   id of an insert
   * @throws NotifierError as {@link send}, of the first message that is refused
   */
  sendWith(organizationId: string, writes: PluginWrites): Promise<readonly string[] | 'taken'>
  /**
   * Cancels a notification that waits for an attempt.
   *
   * @throws NotifierError `not_cancellable`, `notification_not_found`
   */
  cancel(organizationId: string, notificationId: string): Promise<void>
}

/** What a plug-in brings to a notifier. */
export interface PluginParts<Api extends PluginApi = PluginApi> {
  /** Its methods on an organization, under its name: `notifier.organization(id).reactions.add(…)`. */
  readonly api: Api
  /** Operations of the REST API. They call `api`. */
  readonly routes?: readonly PluginRoute[] | undefined
  /** Says of each message whether it may go, at the accept and before each attempt. Asked after suppressions and preferences. */
  readonly judge?: PluginJudge | undefined
  /** What is done with records when they fall due, one for each such kind: `[onDue(reminders, …)]`. */
  readonly due?: readonly PluginDueHandler[] | undefined
}

/** A plug-in, as {@link definePlugin} makes it. */
export interface Plugin<Name extends string = string, Api extends PluginApi = PluginApi> {
  readonly name: Name
  readonly records: readonly PluginRecords[]
  readonly errors: Readonly<Record<string, PluginError>>
  /** Called once for a notifier. */
  setup(core: PluginCore): PluginParts<Api>
}

/** Its methods as an organization has them. */
type OfOrganization<Api> = {
  readonly [Name in keyof Api]: Api[Name] extends (
    organizationId: string,
    ...input: infer Input
  ) => infer Output
    ? (...input: Input) => Promise<Awaited<Output>>
    : never
}

type ApiOf<Of> = Of extends Plugin<string, infer Api> ? Api : never

/** What plug-ins add to an organization's API, by their names. Unknown: nothing. */
export type PluginApis<Plugins extends readonly Plugin[]> = Plugins extends readonly []
  ? unknown
  : { readonly [Each in Plugins[number] as Each['name']]: OfOrganization<ApiOf<Each>> }
