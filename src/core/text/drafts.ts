import { isDeepStrictEqual } from 'node:util'
import { NotifierError } from '../errors/notifier-error.ts'
import { definedOf } from '../input/defined.ts'
import type { RecordWrite, StoredRecord } from '../ports/storage/records.ts'
import type { PerTenant } from '../tenancy/per-tenant.ts'
import { parseOptions, parseSubject } from '../tenancy/scope.ts'
import type { StoredTemplates } from './api.ts'
import type { AuthoringServices } from './authoring-services.ts'
import { draftChange, publishOptions } from './draft-input.ts'
import {
  type DraftText,
  type DraftValue,
  draftKind,
  draftShape,
  draftTextOf,
  type StoredDraft,
  storedDraft,
} from './draft-kind.ts'
import { assertFormat } from './format.ts'
import { insertVersion, type StoredTemplate, type TemplateValue } from './kind.ts'
import { changedText, shownText } from './message-text.ts'
import type { TemplateDraftRecord, TemplateRecord } from './model.ts'
import type { Template } from './template.ts'
import type { TextChecks } from './text-checks.ts'
import type { TextStore } from './text-store.ts'
import { changedVariants, shownVariants } from './variants.ts'

/** What drafts need of templates. */
export interface DraftServices extends TextChecks {
  readonly store: TextStore<TemplateValue, StoredTemplate>
  find(organizationId: string, idOrName: string): Promise<Template>
  changedValue(value: TemplateValue, change: DraftText, now: number): TemplateValue
  view(record: StoredRecord<TemplateValue>): TemplateRecord
}

/** The use cases of drafts. */
export interface Drafts
  extends PerTenant<Pick<StoredTemplates, 'draft' | 'saveDraft' | 'publish' | 'discardDraft'>> {
  /** The template with the text of its draft. @throws NotifierError `template_not_found` */
  drafted(template: Template): Promise<Template>
}

export function createDrafts(
  { stores, audit, kinds, texts }: AuthoringServices,
  { store, find, assertTexts, assertWhole, usesOfAll, changedValue, view }: DraftServices,
): Drafts {
  const drafts = stores.of(draftKind)

  /** Null: none. */
  async function draftOf(template: Template): Promise<DraftValue | null> {
    const [draft] = await texts.read(draftShape, [await drafts.find({ id: template.id })])
    return draft?.value ?? null
  }

  async function findDraft(template: Template): Promise<DraftValue> {
    const draft = await draftOf(template)
    if (draft === null) throw noDraft(template)
    return draft
  }

  /** @throws NotifierError `version_conflict` if the draft has another edit than expected */
  async function stored(template: Template, text: DraftText, expected?: number): Promise<DraftValue> {
    const { id, organizationId, version } = template
    const newest = await store.stored.find({ id })
    if (newest === null) throw new NotifierError('template_not_found')
    const first = { ...text, basedOn: version, edit: 1, updatedAt: template.updatedAt }
    const written = storedDraft(first, newest.value)
    const saved = (before: object, after: object) =>
      audit.entry({
        organizationId,
        action: 'template.draft_saved',
        target: id,
        name: template.name,
        before,
        after,
      })
    const changed = await drafts.change<'outdated'>(
      id,
      ({ value, readAt }) => {
        if (expected !== undefined && expected !== value.edit) return 'outdated'
        const edited = draftTextOf(written)
        return isDeepStrictEqual(edited, draftTextOf(value))
          ? value
          : { ...value, ...edited, edit: value.edit + 1, updatedAt: readAt }
      },
      (value, before) => (value === before.value ? [] : [saved(before.value, value)]),
    )
    if (changed === 'outdated') throw outdated(template, (await findDraft(template)).edit)
    if (typeof changed !== 'string') return { ...first, ...editOf(changed.value) }
    if (expected !== undefined && expected !== 0) throw noDraft(template)
    const created = await drafts.insert({ id, organizationId, value: written }, [
      saved(draftTextOf(newest.value), draftTextOf(written)),
    ])
    if (created === 'taken') throw outdated(template, 1)
    return first
  }

  function publishing({ id, organizationId, name }: Template, before: object, after: object): RecordWrite {
    return audit.entry({
      organizationId,
      action: 'template.published',
      target: id,
      name,
      before,
      after,
    })
  }

  return {
    async drafted(template) {
      const written = { ...template, ...draftTextOf(await findDraft(template)) }
      return { ...written, ...usesOfAll(written) }
    },
    async draft(organizationId, idOrName) {
      const template = await find(organizationId, idOrName)
      return draftView(template, await findDraft(template))
    },
    async saveDraft(organizationId, idOrName, input) {
      const { edit, ...change } = parseSubject(draftChange, input)
      const template = await find(organizationId, idOrName)
      const before = (await draftOf(template)) ?? template
      const kind = kinds.of(template.channel)
      assertFormat(kind, change)
      await assertTexts(organizationId, change)
      const { subject, layout, locale, metadata } = change
      const given = definedOf({ subject, layout, locale, metadata, ...changedText(kind, before, change) })
      const locales =
        change.locales === undefined ? before.locales : changedVariants(kind, before.locales, change.locales)
      const text = draftTextOf({ ...before, ...given, locales })
      const { channel } = template
      await assertWhole(organizationId, { ...text, channel }, { ...before, channel })
      return draftView(template, await stored(template, text, edit))
    },
    async publish(organizationId, idOrName, options) {
      const { edit, version } = parseOptions(publishOptions, options)
      const template = await find(organizationId, idOrName)
      const draft = await findDraft(template)
      if (edit !== undefined && edit !== draft.edit) throw outdated(template, draft.edit)
      const text = draftTextOf(draft)
      // A layout or partial may have been deleted since.
      await assertWhole(organizationId, { ...text, channel: template.channel }, template)
      const expected = version ?? draft.basedOn
      const published = await store.change<'outdated'>(
        template.id,
        ({ value, readAt }) => (value.version === expected ? changedValue(value, text, readAt) : 'outdated'),
        (value, before) => [
          ...(value.version === before.value.version
            ? []
            : [insertVersion(template.id, before.organizationId, value, audit.actor())]),
          // A draft that was changed meanwhile stays.
          { kind: draftKind, do: 'remove', id: template.id, only: { edit: draft.edit } },
          publishing(template, before.value, value),
        ],
      )
      if (published === 'outdated') throw behind(await find(organizationId, template.id), draft)
      if (typeof published === 'string') throw new NotifierError('template_not_found')
      return view(published)
    },
    async discardDraft(organizationId, idOrName) {
      const template = await find(organizationId, idOrName)
      const { id: target, name } = template
      const removed = await drafts.remove(target, () => [
        audit.entry({ organizationId, action: 'template.draft_discarded', target, name }),
      ])
      if (!removed) throw noDraft(template)
    },
  }
}

function editOf({
  basedOn,
  edit,
  updatedAt,
}: StoredDraft): Pick<DraftValue, 'basedOn' | 'edit' | 'updatedAt'> {
  return { basedOn, edit, updatedAt }
}

function noDraft({ name }: Template): NotifierError {
  return new NotifierError('template_not_found', {
    message: `The template "${name}" has no draft. Save one first.`,
    details: { field: 'draft' },
  })
}

function outdated({ name }: Template, edit: number): NotifierError {
  return new NotifierError('version_conflict', {
    message: `The draft of "${name}" now has the edit ${edit}. Read it again, and apply the change to that one.`,
    details: { field: 'edit', edit },
  })
}

function behind({ name, version }: Template, { basedOn }: DraftValue): NotifierError {
  return new NotifierError('version_conflict', {
    message: `The draft of "${name}" began with version ${basedOn}, and the template now has version ${version}. Compare them; publish with { version: ${version} } to replace that one.`,
    details: { field: 'version', version },
  })
}

function draftView(template: Template, draft: DraftValue): TemplateDraftRecord {
  const { subject, layout = null, locale = null, locales, metadata = null, basedOn, edit } = draft
  return {
    id: template.id,
    name: template.name,
    channel: template.channel,
    subject,
    ...shownText(draft),
    layout,
    locale,
    locales: shownVariants(locales),
    metadata,
    basedOn,
    edit,
    updatedAt: new Date(draft.updatedAt).toISOString(),
  }
}
