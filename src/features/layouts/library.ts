import { setImmediate as nextTurn } from 'node:timers/promises'
import type { NotifierError } from '../../core/errors/notifier-error.ts'
import type { PinnedTexts } from '../../core/notification/notification.ts'
import type { RecordRef, StoredRecord } from '../../core/ports/storage/records.ts'
import type { RecordReads } from '../../core/records/record-stores.ts'
import { invalidTemplate, missingLayout, missingPartial } from '../../core/text/assemble.ts'
import {
  type FoundTexts,
  type Library,
  madeKey,
  missingVersion,
  NO_SHARED_TEXTS,
} from '../../core/text/library.ts'
import {
  MAX_PARTIALS,
  type PinnedText,
  type SharedRole,
  type SharedSources,
} from '../../core/text/shared-text.ts'
import { inVariant } from '../../core/text/template.ts'
import type { TextReader } from '../../core/text/text-store.ts'
import type { Languages } from '../languages/index.ts'
import type { ApplicationTexts } from './options.ts'
import {
  type SharedValue,
  sharedByName,
  sharedKind,
  sharedShape,
  sharedVersionId,
  sharedVersionKind,
  sharedVersionShape,
} from './records.ts'

/** Layouts and partials per read: a synchronous storage blocks the process meanwhile. */
const READ_AT_ONCE = 8

interface Wanted {
  readonly role: SharedRole
  readonly name: string
}

export function createLibrary(
  records: RecordReads,
  texts: TextReader,
  application: ApplicationTexts,
  languages: Pick<Languages, 'choose' | 'load' | 'timeZoneOf'>,
): Library {
  async function findAll(
    organizationId: string,
    wanted: readonly Wanted[],
    reads: RecordReads,
    instead: (PinnedText & { readonly role: SharedRole }) | undefined,
  ): Promise<{ readonly role: SharedRole; readonly text: PinnedText }[]> {
    const refs = wanted.map(({ role, name }) => sharedByName(organizationId, role, name))
    const found = await readInPortions(refs, async (some) =>
      texts.read(sharedShape, await reads.get(sharedKind, some), reads),
    )
    return wanted.map(({ role, name }, index) => {
      const record = found[index] ?? null
      if (instead?.role === role && instead.name === name) return { role, text: instead }
      const text = record === null ? application.find(role, name) : pinnedText(record)
      if (text === null) throw role === 'layout' ? missingLayout(name) : missingPartial(name)
      return { role, text }
    })
  }

  const find: Library['find'] = async ({ organizationId, layout, uses = [] }, reads, instead) => {
    const partials = new Map<string, PinnedText>()
    const first: Wanted[] = layout == null ? [] : [{ role: 'layout', name: layout }]
    let frame: PinnedText | null = null
    for (let wanted = [...first, ...uses.map(toPartial)]; wanted.length > 0; ) {
      if (partials.size + wanted.length > MAX_PARTIALS + first.length) throw tooMany()
      const found = await findAll(organizationId, wanted, reads, instead)
      for (const { role, text } of found) {
        if (role === 'layout') frame = text
        else partials.set(text.name, text)
      }
      const named = new Set(found.flatMap(({ text }) => text.uses))
      wanted = [...named].filter((name) => !partials.has(name)).map(toPartial)
    }
    return madeOf(frame, partials)
  }

  async function sourcesOf({ layout, partials = [] }: PinnedTexts): Promise<SharedSources> {
    const pins = layout === undefined ? partials : [layout, ...partials]
    if (pins.length === 0) return NO_SHARED_TEXTS.sources
    const refs = pins.map((id) => ({ id }))
    const versions = await readInPortions(refs, async (some) =>
      texts.read(sharedVersionShape, await records.get(sharedVersionKind, some)),
    )
    const found = versions.map((version, index) => {
      if (version === null) throw missingVersion(pins[index] ?? '')
      return version.value
    })
    const frame = layout === undefined ? null : (found.shift() ?? null)
    return { layout: frame, partials: new Map(found.map((text) => [text.name, text])) }
  }

  return {
    find,
    async complete(template, reads, locale) {
      const { organizationId, locales, localized, locale: own = null } = template
      const found =
        template.layout != null || template.uses !== undefined ? await find(template, reads) : NO_SHARED_TEXTS
      if (locales === undefined && localized !== true && !found.localized)
        return found === NO_SHARED_TEXTS
          ? template
          : { ...template, made: { ...found, key: madeKey(template, found.pinned), language: null } }
      const variants = { own, locales: Object.keys(locales ?? {}) }
      const { pinned, language } = await languages.choose({ organizationId, locale }, variants, reads)
      const timeZone = await languages.timeZoneOf(organizationId, undefined)
      const all = { ...found.pinned, ...pinned }
      const key = madeKey(template, all)
      const made = { key, pinned: all, sources: found.sources, language, timeZone }
      return { ...inVariant(template, pinned.variant), made }
    },
    async load(version, pinned) {
      const { locale, messages = [], variant } = pinned
      const language = locale === undefined ? null : await languages.load({ locale, messages })
      const made = { key: madeKey(version, pinned), pinned, sources: await sourcesOf(pinned), language }
      return { ...inVariant(version, variant), made }
    },
  }
}

async function readInPortions<Row>(
  refs: readonly RecordRef[],
  read: (some: readonly RecordRef[]) => Promise<readonly Row[]>,
): Promise<readonly Row[]> {
  const rows: Row[] = []
  for (let at = 0; at < refs.length; at += READ_AT_ONCE) {
    if (at > 0) await nextTurn()
    rows.push(...(await read(refs.slice(at, at + READ_AT_ONCE))))
  }
  return rows
}

function madeOf(layout: PinnedText | null, partials: ReadonlyMap<string, PinnedText>): FoundTexts {
  const pins = [...partials.values()].map(({ pin }) => pin)
  const pinned = {
    ...(layout === null ? {} : { layout: layout.pin }),
    ...(pins.length === 0 ? {} : { partials: pins }),
  }
  const localized = layout?.localized === true || [...partials.values()].some((text) => text.localized)
  return { pinned, sources: { layout, partials }, localized }
}

function pinnedText({ id, value }: StoredRecord<SharedValue>): PinnedText {
  return { ...value, pin: sharedVersionId(id, value.version) }
}

const toPartial = (name: string): Wanted => ({ role: 'partial', name })

function tooMany(): NotifierError {
  return invalidTemplate(`is made of more than ${MAX_PARTIALS} partials`)
}
