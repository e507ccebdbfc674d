import { NotifierError } from '../../domain/errors/notifier-error.ts'
import type { IdGenerator } from '../../domain/ids.ts'
import { jsonObject } from '../../domain/input/fields.ts'
import { parseInput } from '../../domain/input/parse.ts'
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
import { shown } from '../render.ts'
import { owned, parseSubject } from '../scope.ts'
import type { Scoped, Tenant } from '../tenant.ts'
import type { CompiledTemplates } from './compiled-templates.ts'
import type { TemplateRecord } from './records.ts'

const readList = listReader('templates', {})
/** Each may be a mebibyte. */
const portions = { rows: 4, size: ({ body, text }: Template) => body.length + (text?.length ?? 0) }

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

  return {
    async create(organizationId, input) {
      const parsed = parseSubject(templateInput, input)
      await organizations.existing(organizationId)
      const text = storedText(parsed)
      // The schema wants one.
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
      const { channel, name, subject, description } = change
      const template = await find(organizationId, idOrName)
      if (channel !== undefined && channel !== template.channel) throw channelFixed(template)
      const kind = kinds.of(template.channel)
      assertFormat(kind, change)
      const text = changedText(kind, template, change)
      await processor.share(template.organizationId)(once(() => assertTemplateText(change)))
      const updated = await storage.templates.update(template.id, { name, subject, description, ...text })
      if (updated === 'unknown') throw new NotifierError('template_not_found')
      if (updated === 'taken') throw nameTaken(name ?? template.name)
      return view(updated)
    },
    async preview(organizationId, idOrName, variables) {
      const parsed = parseInput(jsonObject, variables ?? {}, 'variables')
      const template = await find(organizationId, idOrName)
      await compiled.prepare(template)
      const { assertVariables, render } = compiled.of(template)
      assertVariables(parsed)
      return shown(kinds.of(template.channel), render(parsed))
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

function nameTaken(name: string): NotifierError {
  return new NotifierError('template_already_exists', {
    message: `A template named "${name}" exists. Choose another name, or update the existing template.`,
    details: { field: 'name' },
  })
}

function view(template: Template): TemplateRecord {
  const { id, name, channel, subject, description, version, createdAt } = template
  return {
    id,
    name,
    channel,
    subject,
    ...shownText(template),
    description,
    version,
    createdAt: new Date(createdAt).toISOString(),
  }
}
