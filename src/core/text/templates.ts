import { isDeepStrictEqual } from 'node:util'
import { auditedChange } from '../audit/audited-change.ts'
import { unknownChannel } from '../channels/kinds.ts'
import { NotifierError } from '../errors/notifier-error.ts'
import { versionConflict } from '../errors/version-conflict.ts'
import { definedOf } from '../input/defined.ts'
import type { StoredRecord } from '../ports/storage/records.ts'
import { listReader } from '../records/list.ts'
import type { PerTenant } from '../tenancy/per-tenant.ts'
import { owned, parseSubject } from '../tenancy/scope.ts'
import type { StoredTemplates } from './api.ts'
import type { AuthoringServices } from './authoring-services.ts'
import { inCode } from './code-templates.ts'
import { compareSteps } from './compare.ts'
import { draftKind } from './draft-kind.ts'
import { createDrafts, type Drafts } from './drafts.ts'
import { createExampleParts, type ExampleParts } from './example-parts.ts'
import { assertFormat } from './format.ts'
import { templateChange, templateInput } from './input.ts'
import {
  insertVersion,
  type TemplateValue,
  templateRef,
  templateShape,
  toTemplate,
  type VersionValue,
  versionId,
  versionOf,
  versionShape,
} from './kind.ts'
import { changedText, shownText, storedText } from './message-text.ts'
import type { TemplateRecord, TemplateVersionRecord } from './model.ts'
import { createPreviews } from './previews.ts'
import type { Template } from './template.ts'
import { createTextChecks, type TextChecks } from './text-checks.ts'
import { createTextStore } from './text-store.ts'
import { changedVariants, shownVariants } from './variants.ts'

const readList = listReader('templates', {})
const readVersions = listReader('template-versions', {})
/** Rows without their long texts. */
const ROWS = 10

/** The stored templates of a notifier. */
export interface Templates extends Pick<Drafts, 'drafted'>, Pick<TextChecks, 'assertTexts'> {
  readonly api: PerTenant<StoredTemplates>
  /** @throws NotifierError `template_not_found` */
  find(organizationId: string, idOrName: string): Promise<Template>
  readonly exampleParts: ExampleParts
}

export function createTemplates(services: AuthoringServices): Templates {
  const { stores, audit, ids, organizations, kinds, processor, categories, code, texts } = services
  const store = createTextStore(templateShape, stores, texts)
  const versions = createTextStore(versionShape, stores, texts)
  const checks = createTextChecks(services)
  const exampleParts = createExampleParts(services)
  const { assertTexts, assertWhole, usesOfAll } = checks

  async function find(organizationId: string, idOrName: string): Promise<Template> {
    if (typeof idOrName !== 'string') throw new NotifierError('template_not_found')
    if (inCode(code, idOrName) !== null) throw writtenInCode(idOrName)
    const record = await store.find(templateRef(organizationId, idOrName))
    return owned(record && toTemplate(record), organizationId, 'template_not_found')
  }

  /** @param own the name that it has @throws NotifierError `template_already_exists` */
  function assertFree(name: string | undefined, own?: string): void {
    if (name === own || inCode(code, name) === null) return
    throw new NotifierError('template_already_exists', {
      message: `The template "${name}" is defined in the code of the application. Choose another name.`,
      details: { field: 'name' },
    })
  }

  /** @throws NotifierError `unknown_category` */
  async function currentId(organizationId: string, category: string | null): Promise<string | null> {
    return category === null ? null : (await categories.existing(organizationId, category)).id
  }

  /** Adds a version if the text changes; a new name or description alone keeps the version. */
  function update(
    id: string,
    change: TemplateEdit,
    action: 'template.updated' | 'template.restored',
    expected?: number,
  ) {
    return store.change<'outdated'>(
      id,
      ({ value, readAt }) =>
        expected === undefined || expected === value.version
          ? changedValue(value, change, readAt)
          : 'outdated',
      (value, before) => [
        ...(value.version === before.value.version
          ? []
          : [insertVersion(id, before.organizationId, value, audit.actor())]),
        ...auditedChange(audit, {
          organizationId: before.organizationId,
          action,
          target: id,
          name: value.name,
          before: before.value,
          after: value,
        }),
      ],
    )
  }

  /** The same value if nothing changes. */
  function changedValue(value: TemplateValue, change: TemplateEdit, now: number): TemplateValue {
    const after = { ...value, ...change }
    const same = (field: keyof TemplateEdit) => isDeepStrictEqual(after[field] ?? null, value[field] ?? null)
    if (!VERSIONED.every(same))
      return { ...after, ...usesOfAll(after), version: value.version + 1, updatedAt: now }
    return UNVERSIONED.every(same) ? value : after
  }

  async function findVersion(template: Template, version: number): Promise<StoredRecord<VersionValue>> {
    const known = Number.isSafeInteger(version) && version >= 1 && version <= template.version
    const found = known ? await versions.find({ id: versionId({ id: template.id, version }) }) : null
    if (found === null) throw unknownVersion(template)
    return found
  }

  const { drafted, ...drafts } = createDrafts(services, { ...checks, store, find, changedValue, view })

  const api: Templates['api'] = {
    ...drafts,
    ...createPreviews(services, { find, drafted, assertTexts, exampleParts }),
    async create(organizationId, input) {
      const parsed = parseSubject(templateInput, input)
      assertFree(parsed.name)
      await organizations.existing(organizationId)
      const text = storedText(parsed)
      // The schema requires one.
      if (text === null) throw new NotifierError('missing_required_field')
      const given = {
        name: parsed.name,
        channel: parsed.channel,
        subject: parsed.subject ?? null,
        ...text,
        layout: parsed.layout ?? null,
        locale: parsed.locale ?? null,
        description: parsed.description ?? null,
        metadata: parsed.metadata ?? null,
        category: await currentId(organizationId, parsed.category ?? null),
        version: 1,
        updatedAt: null,
      }
      const kind = kinds.known.get(given.channel)
      if (kind === undefined) throw unknownChannel(given.channel, kinds)
      assertFormat(kind, parsed)
      await assertTexts(organizationId, parsed)
      const value = { ...given, locales: changedVariants(kind, undefined, parsed.locales ?? {}) }
      await assertWhole(organizationId, value)
      const id = ids.random('tpl')
      const named = { ...value, ...usesOfAll(value) }
      const created = await store.insert({ id, organizationId, value: named }, (stored) => [
        insertVersion(id, organizationId, stored, audit.actor()),
        audit.entry({
          organizationId,
          action: 'template.created',
          target: id,
          name: parsed.name,
          after: stored,
        }),
      ])
      if (created === 'taken') throw nameTaken(parsed.name)
      return view(created)
    },
    async get(organizationId, idOrName) {
      return templateView(await find(organizationId, idOrName))
    },
    async list(organizationId, query) {
      const { page } = readList(query)
      await organizations.existing(organizationId)
      return store.list('templates', { organizationId }, page, ROWS, async (found) => {
        const drafted = await stores.of(draftKind).findAll(found.map(({ id }) => ({ id })))
        return found.map((record, at) => ({ ...view(record), hasDraft: drafted[at] !== null }))
      })
    },
    async update(organizationId, idOrName, input) {
      const change = parseSubject(templateChange, input)
      const { channel, name, subject, layout, locale, description, metadata, version } = change
      const template = await find(organizationId, idOrName)
      assertFree(name, template.name)
      if (channel !== undefined && channel !== template.channel) throw channelFixed(template)
      const kind = kinds.of(template.channel)
      assertFormat(kind, change)
      const text = changedText(kind, template, change)
      await assertTexts(organizationId, change)
      const variants =
        change.locales === undefined
          ? {}
          : { locales: changedVariants(kind, template.locales, change.locales) }
      const wanted = change.category
      const category = wanted === undefined ? undefined : await currentId(organizationId, wanted)
      const given = definedOf({ name, subject, layout, locale, description, metadata, category, ...text })
      const changed = { ...given, ...variants }
      await assertWhole(organizationId, { ...template, ...changed }, template)
      const updated = await update(template.id, changed, 'template.updated', version)
      if (updated === 'unknown') throw new NotifierError('template_not_found')
      if (updated === 'taken') throw nameTaken(name ?? template.name)
      if (updated === 'outdated') throw conflict(await find(organizationId, template.id))
      return view(updated)
    },
    async versions(organizationId, idOrName, query) {
      const { page } = readVersions(query)
      const { id } = await find(organizationId, idOrName)
      return versions.list('template-versions', { organizationId, list: id }, page, ROWS, async (found) =>
        found.map(versionView),
      )
    },
    async version(organizationId, idOrName, version) {
      return versionView(await findVersion(await find(organizationId, idOrName), version))
    },
    async compare(organizationId, idOrName, from, to) {
      const template = await find(organizationId, idOrName)
      const [older, newer] = await Promise.all([findVersion(template, from), findVersion(template, to)])
      return processor.share(organizationId)(compareSteps(versionOf(older), versionOf(newer)))
    },
    async restore(organizationId, idOrName, version) {
      const template = await find(organizationId, idOrName)
      const found = versionOf(await findVersion(template, version))
      const { subject, body, format, text, locales } = found
      const { layout = null, locale = null, metadata = null } = found
      const earlier = { subject, body, format, text, layout, locale, locales, metadata }
      await assertWhole(organizationId, { ...template, ...earlier }, template)
      const restored = await update(template.id, earlier, 'template.restored')
      if (typeof restored === 'string') throw new NotifierError('template_not_found')
      return view(restored)
    },
    async delete(organizationId, idOrName) {
      const template = await find(organizationId, idOrName)
      const { id: target, name } = template
      const removed = await store.stored.remove(target, () => [
        audit.entry({ organizationId, action: 'template.deleted', target, name }),
      ])
      if (!removed) throw new NotifierError('template_not_found')
      await stores.of(draftKind).remove(template.id)
    },
  }

  return { api, find, drafted, assertTexts, exampleParts }
}

type TemplateEdit = Partial<Omit<TemplateValue, 'channel' | 'version' | 'updatedAt' | 'uses' | 'localized'>>

/** What the text of a version consists of. */
const VERSIONED = ['subject', 'body', 'format', 'text', 'layout', 'locale', 'locales', 'metadata'] as const

const UNVERSIONED = ['name', 'description', 'category'] as const

function writtenInCode(name: string): NotifierError {
  return new NotifierError('template_not_found', {
    message: `The template "${name}" is defined in the code of the application, and is changed only there. Name a stored template of this name by its id.`,
    details: { template: name },
  })
}

function channelFixed({ name, channel }: Template): NotifierError {
  return new NotifierError('invalid_parameter', {
    message: `The channel of a template never changes: "${name}" is for ${channel}. Create another template.`,
    details: { field: 'channel', expected: channel },
  })
}

function unknownVersion({ name, version }: Template): NotifierError {
  return new NotifierError('template_not_found', {
    message: `The template "${name}" has only the versions 1 to ${version}.`,
    details: { field: 'version', newest: version },
  })
}

function conflict({ name, version }: Template): NotifierError {
  return versionConflict(`The template "${name}"`, version)
}

function nameTaken(name: string): NotifierError {
  return new NotifierError('template_already_exists', {
    message: `A template named "${name}" exists. Choose another name, or update the existing template.`,
    details: { field: 'name' },
  })
}

function versionView(record: StoredRecord<VersionValue>): TemplateVersionRecord {
  const stored = versionOf(record)
  const { author = null } = record.value
  const { id, version, channel, subject, updatedAt } = stored
  const { layout = null, locale = null, metadata = null } = stored
  const locales = shownVariants(stored.locales)
  const createdAt = new Date(updatedAt).toISOString()
  return {
    id,
    version,
    channel,
    subject,
    ...shownText(stored),
    layout,
    locale,
    locales,
    metadata,
    author,
    createdAt,
  }
}

const view = (record: StoredRecord<TemplateValue>): TemplateRecord => templateView(toTemplate(record))

function templateView(template: Template): TemplateRecord {
  const {
    id,
    name,
    channel,
    subject,
    layout = null,
    description,
    metadata = null,
    category = null,
  } = template
  const { version, createdAt, updatedAt } = template
  return {
    id,
    name,
    channel,
    subject,
    ...shownText(template),
    layout,
    locale: template.locale ?? null,
    locales: shownVariants(template.locales),
    description,
    metadata,
    category,
    version,
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(updatedAt).toISOString(),
  }
}
