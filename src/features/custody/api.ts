import type { List, ListQuery } from '../../core/records/list.ts'
import type { EraseOptions, ErasureRecord, ExportedLine, ExportOptions, PersonInput } from './model.ts'

/** Erasure and export of what is stored about a person. */
export interface PeopleApi {
  /**
   * Erases a person: cancels what waits, and removes addresses, texts, variables, files, metadata, copies, preferences, received
   * messages and the bodies of webhook deliveries. Facts and counts without identity stay, and so do opt-outs, under hashes.
   * By `recipient` it goes by the application's id, and leaves what is stored about addresses alone: another person may have the
   * same one. Erase each address of the person, too.
   *
   * The first pass is made at once, as far as some seconds reach; the rest follows in the background, at least a minute later, so
   * that a send that was under way is erased as well. An erasure of the same person that is running is returned.
   *
   * @throws NotifierError `missing_required_field`, `invalid_parameter`, `invalid_channel`, `invalid_email`, `invalid_phone`,
   *   `invalid_recipient`, `erasure_limit_reached`
   *
   * @example
   * const { id, status } = await notifier.people.erase({ channel: 'email', to: 'ada@example.com' })
   */
  erase(person: PersonInput, options?: EraseOptions): Promise<ErasureRecord>
  /**
   * An erasure.
   *
   * @throws NotifierError `not_found`
   *
   * @example
   * const { status, counts } = await notifier.people.getErasure('era_1234')
   */
  getErasure(id: string): Promise<ErasureRecord>
  /**
   * Erasures, newest first. They are kept as long as the audit log.
   *
   * @example
   * const { items } = await notifier.people.listErasures()
   */
  listErasures(query?: ListQuery): Promise<List<ErasureRecord>>
  /**
   * Everything that an erasure would remove, as lines for JSON: read as fast as the caller goes on, so that memory stays flat.
   * Texts of `sensitive` messages are never shown, nor blind copies to others. Times are ISO 8601 UTC.
   *
   * @throws NotifierError as {@link erase}
   *
   * @example
   * for await (const line of await notifier.people.export({ recipient: 'user:42' })) {
   *   console.log(JSON.stringify(line))
   * }
   */
  export(person: PersonInput, options?: ExportOptions): Promise<AsyncIterable<ExportedLine>>
}
