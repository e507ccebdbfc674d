import type { RecordKind } from '../../domain/record-kind.ts'

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

export const cataloguesKind: RecordKind<CataloguesValue> = { name: 'catalogues', version: 1 }

/** The messages of a version of a catalogue. They outlive changes and its deletion. */
export interface CatalogueValue {
  readonly locale: string
  readonly messages: Readonly<Record<string, string>>
  readonly version: number
}

export const catalogueVersionKind: RecordKind<CatalogueValue> = {
  name: 'catalogue_versions',
  version: 1,
  list: ({ locale }) => locale,
}

export function catalogueId(organizationId: string, locale: string, version: number): string {
  return `${organizationId}/${locale}@${version}`
}
