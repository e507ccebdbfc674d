import type { NotifierError } from '../errors/notifier-error.ts'

/** A person as found and checked. */
export interface ResolvedPerson {
  /** Null-prototype: texts by channel, which are not empty. Their form is not checked. */
  readonly channels: Readonly<Record<string, readonly string[]>>
  readonly locale?: string
  readonly timeZone?: string
}

/** A person, or the error `invalid_person` if the answer about this one is invalid. */
export type FoundPerson = ResolvedPerson | NotifierError

/** The source of people: the addresses, languages and time zones of recipients. A notifier has one or none. */
export interface PeopleFinder {
  /**
   * One person. Null: unknown.
   *
   * @throws NotifierError `invalid_person`; `service_unavailable`; `invalid_configuration` if the answer about all is of
   *   the wrong shape
   */
  one(organizationId: string, id: string): Promise<ResolvedPerson | null>
  /** Several people, in sets. Unknown ids are missing. */
  many(organizationId: string, ids: readonly string[]): Promise<ReadonlyMap<string, FoundPerson>>
  /** Tells the operator that a message goes to other addresses of a person, but not to one with this fault. */
  leftOut(id: string, fault: NotifierError): void
}
