import { parseInput } from '../input/parse.ts'
import { type RequestContext, type Route, routesOf, type TenantsOf } from '../rest/route.ts'
import { deleted } from '../rest/schemas.ts'
import type { StoredTemplates } from './api.ts'
import { type DraftChange, draftChange, publishOptions } from './draft-input.ts'
import { TEMPLATES_TAG } from './routes.ts'
import { templateComparison, templateDraftRecord, templateRecord } from './schemas.ts'
import { versionParam } from './version-param.ts'

/** The methods of a notifier that the handlers use. */
type Served = TenantsOf<{ readonly templates: StoredTemplates }>

const draft = ['/v1/templates/{idOrName}/draft']

const nameOf = ({ idOrName = '' }: RequestContext['params']): string => idOrName

export const templateDraftRoutes: readonly Route<Served>[] = routesOf(
  { tag: TEMPLATES_TAG, belongsTo: 'organization' },
  [
    {
      operation: 'compareTemplateVersions',
      summary: 'Compare two versions of a template line by line',
      method: 'GET',
      paths: ['/v1/templates/{idOrName}/versions/{version}/compare/{other}'],
      permission: 'Read Only',
      unknown: 'template_not_found',
      response: templateComparison,
      handler: async ({ params, organizationId }, { tenants: { templates } }) => ({
        body: await templates.compare(
          organizationId,
          nameOf(params),
          versionParam(params),
          versionParam({ version: params.other ?? '' }),
        ),
      }),
    },
    {
      operation: 'getTemplateDraft',
      summary: 'Get the draft of a template',
      method: 'GET',
      paths: draft,
      permission: 'Read Only',
      unknown: 'template_not_found',
      response: templateDraftRecord,
      handler: async ({ params, organizationId }, { tenants: { templates } }) => ({
        body: await templates.draft(organizationId, nameOf(params)),
      }),
    },
    {
      operation: 'saveTemplateDraft',
      summary: 'Change the draft of a template; sends go on with its newest version',
      method: 'PATCH',
      paths: draft,
      permission: 'Write',
      audited: ['template.draft_saved'],
      unknown: 'template_not_found',
      errors: [['invalid_parameter', 422], 'version_conflict', 'invalid_template'],
      body: draftChange,
      response: templateDraftRecord,
      // Untyped: the notifier parses it with the same schema.
      handler: async ({ params, body, organizationId }, { tenants: { templates } }) => ({
        body: await templates.saveDraft(organizationId, nameOf(params), body as DraftChange),
      }),
    },
    {
      operation: 'publishTemplateDraft',
      summary: 'Make the draft of a template its newest version',
      method: 'POST',
      paths: ['/v1/templates/{idOrName}/draft/publish'],
      permission: 'Write',
      audited: ['template.published'],
      unknown: 'template_not_found',
      errors: ['version_conflict', 'invalid_template'],
      body: publishOptions,
      bodyOptional: true,
      response: templateRecord,
      handler: async ({ params, body, organizationId }, { tenants: { templates } }) => ({
        body: await templates.publish(organizationId, nameOf(params), parseInput(publishOptions, body)),
      }),
    },
    {
      operation: 'discardTemplateDraft',
      summary: 'Remove the draft of a template',
      method: 'DELETE',
      paths: draft,
      permission: 'Full Access',
      audited: ['template.draft_discarded'],
      unknown: 'template_not_found',
      response: deleted,
      async handler({ params, organizationId }, { tenants: { templates } }) {
        await templates.discardDraft(organizationId, nameOf(params))
        return { body: { deleted: true } }
      },
    },
  ],
)
