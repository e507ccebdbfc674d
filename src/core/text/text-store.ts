import type { PageRequest } from '../ports/storage/page.ts'
import type { RecordRef, RecordWrite, StoredRecord } from '../ports/storage/records.ts'
import { type List, listInPortions } from '../records/list.ts'
import type { RecordKind } from '../records/record-kind.ts'
import type { NewRecord, RecordReads, RecordStore, RecordStores } from '../records/record-stores.ts'
import { createVersionCache } from '../records/version-cache.ts'
import { bytesOf, insertText, type Text, type TextRef, textFor, textId, textKind } from './text-kind.ts'

/** How the values of a kind have their texts. */
export interface TextShape<Whole extends object, Stored extends object> {
  readonly kind: RecordKind<Stored>
  /** The id of the template, layout or partial. */
  ownerOf(record: { readonly id: string; readonly value: Stored }): string
  textsOf(value: Stored): readonly (Text | null)[]
  /** The value with other texts in the same places. */
  whole(value: Stored, get: (text: Text) => string): Whole
  stored(value: Whole, put: (text: string) => Text): Stored
}

/** Puts records and their texts together. */
export interface TextReader {
  /**
   * The records with their texts, in at most one query. Null stays null.
   *
   * @param from default: the storage
   * @throws NotifierError `template_error` if a text is missing
   */
  read<Whole extends object, Stored extends object>(
    shape: TextShape<Whole, Stored>,
    records: readonly StoredRecord<Stored>[],
    from?: RecordReads,
  ): Promise<StoredRecord<Whole>[]>
  read<Whole extends object, Stored extends object>(
    shape: TextShape<Whole, Stored>,
    records: readonly (StoredRecord<Stored> | null)[],
    from?: RecordReads,
  ): Promise<(StoredRecord<Whole> | null)[]>
}

export function createTextReader(records: RecordReads): TextReader {
  const cache = createVersionCache(records, textKind, ({ text }) => text.length)

  async function read<Whole extends object, Stored extends object>(
    shape: TextShape<Whole, Stored>,
    found: readonly (StoredRecord<Stored> | null)[],
    from: RecordReads = records,
  ): Promise<(StoredRecord<Whole> | null)[]> {
    const ids = found.flatMap((record) => (record === null ? [] : idsIn(shape, record)))
    // Without references a value has its texts already.
    if (ids.length === 0) return found as readonly object[] as (StoredRecord<Whole> | null)[]
    const values = await cache.get(ids, from)
    const texts = new Map(ids.map((id, index) => [id, values[index]?.text ?? '']))
    return found.map((record) => {
      if (record === null) return null
      const owner = shape.ownerOf(record)
      const get = (text: Text): string =>
        typeof text === 'string' ? text : (texts.get(textId(owner, text)) ?? '')
      return { ...record, value: shape.whole(record.value, get) }
    })
  }

  return { read: read as TextReader['read'] }
}

function idsIn<Whole extends object, Stored extends object>(
  shape: TextShape<Whole, Stored>,
  record: StoredRecord<Stored>,
): readonly string[] {
  const owner = shape.ownerOf(record)
  return refsIn(shape, record.value).map((ref) => textId(owner, ref))
}

function refsIn<Stored extends object>(
  shape: Pick<TextShape<never, Stored>, 'textsOf'>,
  value: Stored,
): readonly TextRef[] {
  return shape.textsOf(value).filter((text): text is TextRef => text !== null && typeof text !== 'string')
}

/** Records of a kind whose long texts are separate records. */
export interface TextStore<Whole extends object, Stored extends object> {
  /** The records without those texts. */
  readonly stored: RecordStore<Stored>
  find(ref: RecordRef): Promise<StoredRecord<Whole> | null>
  /** A page, with the texts of `rows` records read at once. */
  list<Item>(
    name: string,
    of: { readonly organizationId: string; readonly list?: string | undefined },
    page: PageRequest,
    rows: number,
    view: (found: readonly StoredRecord<Whole>[]) => Promise<readonly Item[]>,
  ): Promise<List<Item>>
  /** As {@link RecordStore.insert}. @param also other writes of the commit */
  insert(
    record: NewRecord<Whole>,
    also: (value: Stored) => readonly RecordWrite[],
  ): Promise<StoredRecord<Whole> | 'taken'>
  /** As {@link RecordStore.change}. Texts that the record has already are not written again. */
  change<Refusal extends string = never>(
    id: string,
    decide: (record: StoredRecord<Whole>) => Whole | Refusal,
    also: (value: Stored, before: StoredRecord<Stored>) => readonly RecordWrite[],
  ): Promise<StoredRecord<Whole> | Refusal | 'unknown' | 'taken'>
}

export function createTextStore<Whole extends object, Stored extends object>(
  shape: TextShape<Whole, Stored>,
  stores: RecordStores,
  { read }: TextReader,
): TextStore<Whole, Stored> {
  const store = stores.of(shape.kind)
  stores.of(textKind)

  async function wholeOf(record: StoredRecord<Stored>): Promise<StoredRecord<Whole>> {
    const [whole] = await read(shape, [record])
    return whole as StoredRecord<Whole>
  }

  /** The value as it is stored, and the inserts of its new texts. */
  function split(
    record: { readonly id: string; readonly organizationId: string | null },
    value: Whole,
    before?: Stored,
  ): { readonly value: Stored; readonly inserts: readonly RecordWrite[] } {
    const known = new Set(before === undefined ? [] : refsIn(shape, before).map(({ sha256 }) => sha256))
    const texts: { readonly ref: TextRef; readonly text: string }[] = []
    const stored = shape.stored(value, (text) => {
      const put = textFor(text)
      if (typeof put === 'string' || known.has(put.sha256)) return put
      known.add(put.sha256)
      texts.push({ ref: put, text })
      return put
    })
    const owner = shape.ownerOf({ id: record.id, value: stored })
    const inserts = texts.map(({ ref, text }) => insertText(owner, record.organizationId, ref, text))
    return { value: stored, inserts }
  }

  return {
    stored: store,
    async find(ref) {
      const record = await store.find(ref)
      return record === null ? null : wholeOf(record)
    },
    list: (name, of, page, rows, view) =>
      listInPortions(name, (request) => store.list(of, request), page, {
        rows,
        size: ({ value }) =>
          shape.textsOf(value).reduce((sum, text) => sum + (text === null ? 0 : bytesOf(text)), 0),
        view: async (found) => view(await read(shape, found)),
      }),
    async insert(record, also) {
      const { value, inserts } = split(record, record.value)
      const inserted = await store.insert({ ...record, value }, [...inserts, ...also(value)])
      return inserted === 'taken' ? inserted : { ...inserted, value: record.value }
    },
    async change<Refusal extends string = never>(
      id: string,
      decide: (record: StoredRecord<Whole>) => Whole | Refusal,
      also: (value: Stored, before: StoredRecord<Stored>) => readonly RecordWrite[],
    ) {
      let inserts: readonly RecordWrite[] = []
      let whole: Whole | null = null
      const changed = await store.change<Refusal>(
        id,
        async (record) => {
          const before = await wholeOf(record)
          const value = decide(before)
          if (typeof value === 'string') return value
          whole = value
          if (value === before.value) return record.value
          const written = split(record, value, record.value)
          inserts = written.inserts
          return written.value
        },
        (value, before) => [...inserts, ...also(value, before)],
      )
      return typeof changed === 'string' ? changed : { ...changed, value: whole ?? ({} as Whole) }
    },
  }
}
