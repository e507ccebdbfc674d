import { knownFields } from '../input/known-fields.ts'
import { parseInput } from '../input/parse.ts'
import type { RouteLimit } from '../limits/model.ts'
import { listQuery } from '../rest/query-schemas.ts'
import {
  type HandlerResult,
  type RequestContext,
  type Route,
  type RouteError,
  routesOf,
  type Tag,
  type TenantsOf,
} from '../rest/route.ts'
import { deleted } from '../rest/schemas.ts'
import type { StoredTemplates } from './api.ts'
import { type TemplateChange, type TemplateInput, templateChange, templateInput } from './input.ts'
import type { PreviewInputs } from './preview-input.ts'
import { exampleValues, previewInput, type TemplateDraft, templateDraft } from './preview-input.ts'
import {
  templateList,
  templatePreview,
  templateRecord,
  templateVersionList,
  templateVersionRecord,
} from './schemas.ts'
import { versionParam } from './version-param.ts'

/** The methods of a notifier that the handlers use. */
type Served = TenantsOf<{ readonly templates: StoredTemplates }> & { readonly previewInputs: PreviewInputs }

const EXAMPLE_TEMPLATE = {
  name: 'welcome-email',
  channel: 'email',
  subject: 'Welcome, {{name}}',
  html: '<p>Hello {{name}}!</p>',
  text: 'Hello {{name}}!',
}

const EXAMPLE_TIME = '2026-11-21T12:00:00.000Z'

/** Also of layouts and partials, and for both path families. */
export const TEMPLATE_CREATIONS: RouteLimit = { name: 'templates.create', perMinute: 100 }
export const TEMPLATE_LISTS: RouteLimit = { name: 'templates.list', perMinute: 1_000 }

/** Also of drafts and lints. */
export const TEMPLATES_TAG: Tag = {
  name: 'Templates',
  description: 'Reusable texts with `{{variable}}` placeholders.',
}

/** Also those of parts and recipients, as of a send. */
const PREVIEW_ERRORS: readonly RouteError[] = [
  ['invalid_parameter', 422],
  'missing_required_field',
  'invalid_template',
  'missing_translation',
  'invalid_template_variable',
  'message_too_large',
  'unknown_recipient',
  'invalid_person',
  'unknown_attachment',
  'invalid_configuration',
]

async function create({ body, organizationId }: RequestContext, { tenants }: Served): Promise<HandlerResult> {
  // Untyped: the notifier parses it with `templateInput`.
  return { body: await tenants.templates.create(organizationId, body as unknown as TemplateInput) }
}

async function update(
  { params, body, organizationId }: RequestContext,
  { tenants }: Served,
): Promise<HandlerResult> {
  // Untyped: the notifier parses it with `templateChange`.
  const change = body as TemplateChange
  return { body: await tenants.templates.update(organizationId, params.idOrName ?? '', change) }
}

async function preview(
  { params, body, organizationId, strict }: RequestContext,
  { tenants, previewInputs }: Served,
): Promise<HandlerResult> {
  const { variables: _, data: __, ...options } = knownFields(previewInputs.body, body, strict)
  const { variables, data } = parseInput(exampleValues, body)
  // Without values, those of its example.
  const values = data === undefined && variables === undefined ? undefined : { ...data, ...variables }
  return { body: await tenants.templates.preview(organizationId, params.idOrName ?? '', values, options) }
}

async function previewDraft(
  { body, organizationId, strict }: RequestContext,
  { tenants, previewInputs }: Served,
): Promise<HandlerResult> {
  // Untyped: the notifier parses it.
  const draft = knownFields(previewInputs.draft, body, strict) as unknown as TemplateDraft
  return { body: await tenants.templates.previewDraft(organizationId, draft) }
}

async function versions(
  { params, query, organizationId }: RequestContext,
  { tenants }: Served,
): Promise<HandlerResult> {
  const page = parseInput(listQuery, query, 'query')
  return { body: await tenants.templates.versions(organizationId, params.idOrName ?? '', page) }
}

async function version(
  { params, organizationId }: RequestContext,
  { tenants }: Served,
): Promise<HandlerResult> {
  const { idOrName = '' } = params
  return { body: await tenants.templates.version(organizationId, idOrName, versionParam(params)) }
}

async function restore(
  { params, organizationId }: RequestContext,
  { tenants }: Served,
): Promise<HandlerResult> {
  const { idOrName = '' } = params
  return { body: await tenants.templates.restore(organizationId, idOrName, versionParam(params)) }
}

async function remove(
  { params, organizationId }: RequestContext,
  { tenants }: Served,
): Promise<HandlerResult> {
  await tenants.templates.delete(organizationId, params.idOrName ?? '')
  return { body: { deleted: true } }
}

const below = (path: string) => ['/v1', '/admin'].map((family) => `${family}/templates${path}`)
const collection = below('')
const one = below('/{idOrName}')
const oneVersion = '/{idOrName}/versions/{version}'

export const templateRoutes: readonly Route<Served>[] = routesOf(
  { tag: TEMPLATES_TAG, belongsTo: 'organization' },
  [
    {
      operation: 'createTemplate',
      summary: 'Create a template',
      method: 'POST',
      paths: collection,
      permission: 'Write',
      audited: ['template.created'],
      limit: TEMPLATE_CREATIONS,
      status: 201,
      errors: [
        ['invalid_parameter', 422],
        'missing_required_field',
        'invalid_channel',
        'template_already_exists',
        'invalid_template',
        'unknown_category',
      ],
      body: templateInput,
      response: templateRecord,
      example: {
        request: EXAMPLE_TEMPLATE,
        response: {
          id: 'tpl_Zt6vQ1mYb0cWn4RkXe7uHg',
          ...EXAMPLE_TEMPLATE,
          body: null,
          layout: null,
          locale: null,
          locales: {},
          description: null,
          metadata: null,
          category: null,
          version: 1,
          createdAt: EXAMPLE_TIME,
          updatedAt: EXAMPLE_TIME,
        },
      },
      handler: create,
    },
    {
      operation: 'listTemplates',
      summary: 'List templates, newest first',
      method: 'GET',
      paths: collection,
      permission: 'Read Only',
      limit: TEMPLATE_LISTS,
      query: listQuery,
      response: templateList,
      handler: async ({ query, organizationId }, { tenants }) => ({
        body: await tenants.templates.list(organizationId, parseInput(listQuery, query, 'query')),
      }),
    },
    {
      operation: 'getTemplate',
      summary: 'Get a template by its id or name',
      method: 'GET',
      paths: one,
      permission: 'Read Only',
      unknown: 'template_not_found',
      response: templateRecord,
      handler: async ({ params, organizationId }, { tenants }) => ({
        body: await tenants.templates.get(organizationId, params.idOrName ?? ''),
      }),
    },
    {
      operation: 'updateTemplate',
      summary: 'Change a template; queued notifications keep their version',
      method: 'PATCH',
      paths: one,
      permission: 'Write',
      audited: ['template.updated'],
      unknown: 'template_not_found',
      errors: [
        ['invalid_parameter', 422],
        'invalid_channel',
        'template_already_exists',
        'version_conflict',
        'invalid_template',
        'unknown_category',
      ],
      body: templateChange,
      response: templateRecord,
      handler: update,
    },
    {
      operation: 'previewTemplate',
      summary: 'Render a template with example values; nothing is stored or sent',
      method: 'POST',
      paths: below('/{idOrName}/preview'),
      permission: 'Read Only',
      unknown: 'template_not_found',
      errors: PREVIEW_ERRORS,
      body: previewInput,
      response: templatePreview,
      handler: preview,
    },
    {
      operation: 'previewTemplateDraft',
      summary: 'Render an unsaved template with example values; nothing is stored or sent',
      method: 'POST',
      paths: ['/v1/template-previews', '/admin/template-previews'],
      permission: 'Read Only',
      errors: ['invalid_channel', ...PREVIEW_ERRORS],
      body: templateDraft,
      response: templatePreview,
      handler: previewDraft,
    },
    {
      operation: 'listTemplateVersions',
      summary: 'List the versions of a template, newest first',
      method: 'GET',
      paths: below('/{idOrName}/versions'),
      permission: 'Read Only',
      unknown: 'template_not_found',
      query: listQuery,
      response: templateVersionList,
      handler: versions,
    },
    {
      operation: 'getTemplateVersion',
      summary: 'Get one version of a template',
      method: 'GET',
      paths: below(oneVersion),
      permission: 'Read Only',
      unknown: 'template_not_found',
      response: templateVersionRecord,
      handler: version,
    },
    {
      operation: 'restoreTemplateVersion',
      summary: 'Restore an earlier version of a template as a new version',
      method: 'POST',
      paths: below(`${oneVersion}/restore`),
      permission: 'Write',
      audited: ['template.restored'],
      unknown: 'template_not_found',
      errors: ['invalid_template'],
      response: templateRecord,
      handler: restore,
    },
    {
      operation: 'deleteTemplate',
      summary: 'Delete a template; queued notifications keep their version',
      method: 'DELETE',
      paths: one,
      permission: 'Full Access',
      audited: ['template.deleted'],
      unknown: 'template_not_found',
      response: deleted,
      handler: remove,
    },
  ],
)
