import type { KeepingInsert } from '../../core/ports/storage/records.ts'
import type { RecordKind } from '../../core/records/record-kind.ts'
import { sha256Of } from '../../core/text/text-kind.ts'

/** A catalogue without its messages. */
export interface CatalogueEntry {
  /** The id of the record with its messages. */
  readonly pin: string
  readonly version: number
  readonly messages: number
  /** Epoch milliseconds. */
  readonly updatedAt: number
}

/** The catalogues of an organization, by locale. Its id is that of the organization. */
export interface CataloguesValue {
  readonly locales: Readonly<Record<string, CatalogueEntry>>
  /** The newest version of all: no two catalogues share one, even after a deletion. */
  readonly newest: number
}

export const cataloguesKind: RecordKind<CataloguesValue> = {
  name: 'catalogues',
  version: 1,
  notPersonal: 'text for all',
}

/** The messages of a catalogue. They outlive changes and its deletion. */
export interface CatalogueValue {
  readonly locale: string
  readonly messages: Readonly<Record<string, string>>
}

/** Its id has the hash of its messages, so that equal catalogues are stored once. */
export const catalogueVersionKind: RecordKind<CatalogueValue> = {
  name: 'catalogue_versions',
  version: 1,
  notPersonal: 'text for all',
  list: ({ locale }) => locale,
}

/** Stores the messages, unless they are stored. @param organizationId null: the application's */
export function insertCatalogue(
  organizationId: string | null,
  value: CatalogueValue,
): KeepingInsert<CatalogueValue> {
  const messages = Object.entries(value.messages).sort(([one], [other]) => (one < other ? -1 : 1))
  const hash = sha256Of(JSON.stringify([value.locale, messages]))
  const id = `${organizationId ?? 'app'}/${hash}`
  return { kind: catalogueVersionKind, do: 'insert', id, organizationId, value, ifTaken: 'keep' }
}
