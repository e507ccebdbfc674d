import { NotifierError } from '../../domain/errors/notifier-error.ts'
import type { IdGenerator } from '../../domain/ids.ts'
import { templateChange, templateInput } from '../../domain/input/template.ts'
import { changedText, shownText, storedText } from '../../domain/message-text.ts'
import { once } from '../../domain/steps.ts'
import { assertFormat } from '../../domain/template/format.ts'
import { assertTemplateText } from '../../domain/template/judge.ts'
import type { Template } from '../../domain/template/template.ts'
import type { PageRequest } from '../../ports/storage/page.ts'
import type { Storage } from '../../ports/storage/storage.ts'
import { type Kinds, unknownChannel } from '../channels/kinds.ts'
import { listInPortions, listReader } from '../list.ts'
import type { Organizations } from '../organizations/organizations.ts'
import type { Processor } from '../processor.ts'
import { owned, parseSubject } from '../scope.ts'
import type { Scoped, Tenant } from '../tenant.ts'
import type { CompiledTemplates } from './compiled-templates.ts'
import { createPreviews } from './previews.ts'
import type { TemplateRecord, TemplateVersionRecord } from './records.ts'

const readList = listReader('templates', {})
const readVersions = listReader('template-versions', {})
/** A template may have a mebibyte. */
const portions = { rows: 2, size: ({ body, text }: Template) => body.length + (text?.length ?? 0) }

/** The template use cases of a notifier. */
export function createTemplates(
  storage: Storage,
  ids: IdGenerator,
  organizations: Organizations,
  compiled: CompiledTemplates,
  kinds: Kinds,
  processor: Processor,
): Scoped<Tenant['templates']> {
  async function find(organizationId: string, idOrName: string): Promise<Template> {
    if (typeof idOrName !== 'string') throw new NotifierError('template_not_found')
    if (idOrName.startsWith('tpl_'))
      return owned(await storage.templates.get(idOrName), organizationId, 'template_not_found')
    const [template = null] = await storage.templates.find(organizationId, [idOrName])
    return owned(template, organizationId, 'template_not_found')
  }

  async function findVersion(template: Template, version: number): Promise<Template> {
    const known = Number.isSafeInteger(version) && version >= 1 && version <= template.version
    const [found = null] = known ? await storage.templates.versions([{ id: template.id, version }]) : []
    if (found === null) throw unknownVersion(template)
    return found
  }

  return {
    ...createPreviews(compiled, kinds, processor, find),
    async create(organizationId, input) {
      const parsed = parseSubject(templateInput, input)
      await organizations.existing(organizationId)
      const text = storedText(parsed)
      // The schema requires one.
      if (text === null) throw new NotifierError('missing_required_field')
      const template = {
        id: ids.random('tpl'),
        organizationId,
        name: parsed.name,
        channel: parsed.channel,
        subject: parsed.subject ?? null,
        ...text,
        description: parsed.description ?? null,
      }
      const kind = kinds.known.get(template.channel)
      if (kind === undefined) throw unknownChannel(template.channel, kinds)
      assertFormat(kind, parsed)
      await processor.share(organizationId)(once(() => assertTemplateText(parsed)))
      const created = await storage.templates.create(template)
      if (created === null) {
        throw nameTaken(parsed.name)
      }
      return view(created)
    },
    async get(organizationId, idOrName) {
      return view(await find(organizationId, idOrName))
    },
    async list(organizationId, query) {
      const { page } = readList(query)
      await organizations.existing(organizationId)
      const read = (request: PageRequest) => storage.templates.list(organizationId, request)
      return listInPortions('templates', read, page, view, portions)
    },
    async update(organizationId, idOrName, input) {
      const change = parseSubject(templateChange, input)
      const { channel, name, subject, description, version } = change
      const template = await find(organizationId, idOrName)
      if (channel !== undefined && channel !== template.channel) throw channelFixed(template)
      const kind = kinds.of(template.channel)
      assertFormat(kind, change)
      const text = changedText(kind, template, change)
      await processor.share(template.organizationId)(once(() => assertTemplateText(change)))
      const changed = { name, subject, description, ...text }
      const updated = await storage.templates.update(template.id, changed, version)
      if (updated === 'unknown') throw new NotifierError('template_not_found')
      if (updated === 'taken') throw nameTaken(name ?? template.name)
      if (updated === 'outdated') throw conflict(await find(organizationId, template.id))
      return view(updated)
    },
    async versions(organizationId, idOrName, query) {
      const { page } = readVersions(query)
      const { id } = await find(organizationId, idOrName)
      const read = (request: PageRequest) => storage.templates.history(id, request)
      return listInPortions('template-versions', read, page, versionView, portions)
    },
    async version(organizationId, idOrName, version) {
      return versionView(await findVersion(await find(organizationId, idOrName), version))
    },
    async restore(organizationId, idOrName, version) {
      const template = await find(organizationId, idOrName)
      const { subject, body, format, text } = await findVersion(template, version)
      const restored = await storage.templates.update(template.id, { subject, body, format, text })
      if (typeof restored === 'string') throw new NotifierError('template_not_found')
      return view(restored)
    },
    async delete(organizationId, idOrName) {
      const template = await find(organizationId, idOrName)
      if (!(await storage.templates.delete(template.id))) throw new NotifierError('template_not_found')
    },
  }
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
  const { id, version, channel, subject, updatedAt } = stored
  const createdAt = new Date(updatedAt).toISOString()
  return { id, version, channel, subject, ...shownText(stored), createdAt }
}

function view(template: Template): TemplateRecord {
  const { id, name, channel, subject, description, version, createdAt, updatedAt } = template
  return {
    id,
    name,
    channel,
    subject,
    ...shownText(template),
    description,
    version,
    createdAt: new Date(createdAt).toISOString(),
    updatedAt: new Date(updatedAt).toISOString(),
  }
}
