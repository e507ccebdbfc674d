import { definedOf } from '../../domain/defined.ts'
import { NotifierError } from '../../domain/errors/notifier-error.ts'
import { templateChange, templateInput } from '../../domain/input/template.ts'
import { changedText, shownText, storedText } from '../../domain/message-text.ts'
import { once } from '../../domain/steps.ts'
import { compileTemplate } from '../../domain/template/compile.ts'
import { assertFormat } from '../../domain/template/format.ts'
import { assertTemplateText } from '../../domain/template/judge.ts'
import type { Template } from '../../domain/template/template.ts'
import { partialsIn } from '../../domain/template/uses.ts'
import type { PageRequest } from '../../ports/storage/page.ts'
import type { StoredRecord } from '../../ports/storage/records.ts'
import { unknownChannel } from '../channels/kinds.ts'
import { listInPortions, listReader } from '../list.ts'
import { owned, parseSubject } from '../scope.ts'
import { namesTexts } from '../shared-texts/library.ts'
import type { Scoped, Tenant } from '../tenant.ts'
import {
  insertVersion,
  type TemplateValue,
  templateKind,
  templateRef,
  toTemplate,
  versionId,
  versionKind,
  versionOf,
} from './kind.ts'
import type { AuthoringParts } from './parts.ts'
import { createPreviews } from './previews.ts'
import type { TemplateRecord, TemplateVersionRecord } from './records.ts'

const readList = listReader('templates', {})
const readVersions = listReader('template-versions', {})
/** A template may have a mebibyte. */
const portions = {
  rows: 2,
  size: ({ value: { body, text } }: StoredRecord<TemplateValue>) => body.length + (text?.length ?? 0),
}

/** The template use cases of a notifier. */
export function createTemplates(parts: AuthoringParts): Scoped<Tenant['templates']> {
  const { stores, records, ids, organizations, library, kinds, processor } = parts
  const store = stores.of(templateKind)
  const versions = stores.of(versionKind)

  async function find(organizationId: string, idOrName: string): Promise<Template> {
    if (typeof idOrName !== 'string') throw new NotifierError('template_not_found')
    const record = await store.find(templateRef(organizationId, idOrName))
    return owned(record && toTemplate(record), organizationId, 'template_not_found')
  }

  /** Adds a version if the text changes; a new name or description alone keeps the version. */
  function update(id: string, change: TemplateEdit, expected?: number) {
    return store.change<'outdated'>(
      id,
      ({ value, readAt }) =>
        expected === undefined || expected === value.version
          ? changedValue(value, change, readAt)
          : 'outdated',
      (value, before) =>
        value.version === before.value.version ? [] : [insertVersion(id, before.organizationId, value)],
    )
  }

  /** Compiles a text with its layout and partials, if it has any. @throws NotifierError `invalid_template` */
  async function assertWhole(organizationId: string, text: WrittenTemplate): Promise<void> {
    const named = { ...text, uses: usesOf(text) }
    if (!namesTexts(named)) return
    const { sources } = await library.find({ ...named, organizationId }, records)
    const kind = kinds.of(text.channel)
    await processor.share(organizationId)(once(() => void compileTemplate(kind, text, sources)))
  }

  async function findVersion(template: Template, version: number): Promise<Template> {
    const known = Number.isSafeInteger(version) && version >= 1 && version <= template.version
    const found = known ? await versions.find({ id: versionId({ id: template.id, version }) }) : null
    if (found === null) throw unknownVersion(template)
    return versionOf(found)
  }

  return {
    ...createPreviews(parts, find),
    async create(organizationId, input) {
      const parsed = parseSubject(templateInput, input)
      await organizations.existing(organizationId)
      const text = storedText(parsed)
      // The schema requires one.
      if (text === null) throw new NotifierError('missing_required_field')
      const value = {
        name: parsed.name,
        channel: parsed.channel,
        subject: parsed.subject ?? null,
        ...text,
        layout: parsed.layout ?? null,
        description: parsed.description ?? null,
        metadata: parsed.metadata ?? null,
        version: 1,
        updatedAt: null,
      }
      const kind = kinds.known.get(value.channel)
      if (kind === undefined) throw unknownChannel(value.channel, kinds)
      assertFormat(kind, parsed)
      await processor.share(organizationId)(once(() => assertTemplateText(parsed)))
      await assertWhole(organizationId, value)
      const id = ids.random('tpl')
      const named = { ...value, uses: usesOf(value) }
      const first = insertVersion(id, organizationId, named)
      const created = await store.insert({ id, organizationId, value: named }, [first])
      if (created === 'taken') throw nameTaken(parsed.name)
      return view(created)
    },
    async get(organizationId, idOrName) {
      return templateView(await find(organizationId, idOrName))
    },
    async list(organizationId, query) {
      const { page } = readList(query)
      await organizations.existing(organizationId)
      const read = (request: PageRequest) => store.list({ organizationId }, request)
      return listInPortions('templates', read, page, view, portions)
    },
    async update(organizationId, idOrName, input) {
      const change = parseSubject(templateChange, input)
      const { channel, name, subject, layout, description, metadata, version } = change
      const template = await find(organizationId, idOrName)
      if (channel !== undefined && channel !== template.channel) throw channelFixed(template)
      const kind = kinds.of(template.channel)
      assertFormat(kind, change)
      const text = changedText(kind, template, change)
      await processor.share(template.organizationId)(once(() => assertTemplateText(change)))
      const changed = definedOf({ name, subject, layout, description, metadata, ...text })
      await assertWhole(organizationId, { ...template, ...changed })
      const updated = await update(template.id, changed, version)
      if (updated === 'unknown') throw new NotifierError('template_not_found')
      if (updated === 'taken') throw nameTaken(name ?? template.name)
      if (updated === 'outdated') throw conflict(await find(organizationId, template.id))
      return view(updated)
    },
    async versions(organizationId, idOrName, query) {
      const { page } = readVersions(query)
      const { id } = await find(organizationId, idOrName)
      const read = (request: PageRequest) => versions.list({ organizationId, list: id }, request)
      return listInPortions(
        'template-versions',
        read,
        page,
        (record) => versionView(versionOf(record)),
        portions,
      )
    },
    async version(organizationId, idOrName, version) {
      return versionView(await findVersion(await find(organizationId, idOrName), version))
    },
    async restore(organizationId, idOrName, version) {
      const template = await find(organizationId, idOrName)
      const {
        subject,
        body,
        format,
        text,
        layout = null,
        metadata = null,
      } = await findVersion(template, version)
      const earlier = { subject, body, format, text, layout, metadata }
      await assertWhole(organizationId, { ...template, ...earlier })
      const restored = await update(template.id, earlier)
      if (typeof restored === 'string') throw new NotifierError('template_not_found')
      return view(restored)
    },
    async delete(organizationId, idOrName) {
      const template = await find(organizationId, idOrName)
      if (!(await store.remove(template.id))) throw new NotifierError('template_not_found')
    },
  }
}

type TemplateEdit = Partial<Omit<TemplateValue, 'channel' | 'version' | 'updatedAt' | 'uses'>>

type WrittenTemplate = Pick<TemplateValue, 'channel' | 'subject' | 'body' | 'format' | 'text' | 'layout'>

/** Absent: no partials. */
function usesOf({ subject, body, text }: WrittenTemplate): readonly string[] | undefined {
  const names = partialsIn([subject, body, text])
  return names.length === 0 ? undefined : names
}

function changedValue(value: TemplateValue, change: TemplateEdit, now: number): TemplateValue {
  const after = { ...value, ...change }
  const isSameText = (['subject', 'body', 'format', 'text', 'layout'] as const).every(
    (field) => after[field] === value[field],
  )
  const isSameMetadata = JSON.stringify(after.metadata ?? null) === JSON.stringify(value.metadata ?? null)
  if (isSameText && isSameMetadata) return after
  return { ...after, uses: usesOf(after), version: value.version + 1, updatedAt: now }
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
  return new NotifierError('version_conflict', {
    message: `The template "${name}" now has version ${version}. Read it again, and apply the change to that version.`,
    details: { field: 'version', version },
  })
}

function nameTaken(name: string): NotifierError {
  return new NotifierError('template_already_exists', {
    message: `A template named "${name}" exists. Choose another name, or update the existing template.`,
    details: { field: 'name' },
  })
}

function versionView(stored: Template): TemplateVersionRecord {
  const { id, version, channel, subject, layout = null, metadata = null, updatedAt } = stored
  const createdAt = new Date(updatedAt).toISOString()
  return { id, version, channel, subject, ...shownText(stored), layout, metadata, createdAt }
}

const view = (record: StoredRecord<TemplateValue>): TemplateRecord => templateView(toTemplate(record))

function templateView(template: Template): TemplateRecord {
  const { id, name, channel, subject, layout = null, description, metadata = null, version } = template
  const { createdAt, updatedAt } = template
  return {
    id,
    name,
    channel,
    subject,
    ...shownText(template),
    layout,
    description,
    metadata,
    version,
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(updatedAt).toISOString(),
  }
}
