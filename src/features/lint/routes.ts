import { knownFields } from '../../core/input/known-fields.ts'
import { type Route, routesOf, type TenantsOf } from '../../core/rest/route.ts'
import type { PreviewInputs } from '../../core/text/preview-input.ts'
import { type TemplateDraft, templateDraft } from '../../core/text/preview-input.ts'
import { TEMPLATES_TAG } from '../../core/text/routes.ts'
import type { TemplateLinting } from './api.ts'
import { type LintInput, lintBody } from './input.ts'
import { templateLint } from './schemas.ts'

/** The methods of a notifier that the handlers use. */
export type Served = TenantsOf<{ readonly templates: TemplateLinting }>

interface Inputs {
  readonly lintInput: LintInput
  readonly previewInputs: Pick<PreviewInputs, 'draft'>
}

export const templateLintRoutes: readonly Route<Served & Inputs>[] = routesOf<Served & Inputs>(
  { tag: TEMPLATES_TAG, belongsTo: 'organization' },
  [
    {
      operation: 'lintTemplate',
      summary: 'Find faults of a template in all its locales; nothing is stored or sent',
      method: 'POST',
      paths: ['/v1/templates/{idOrName}/lint'],
      permission: 'Read Only',
      unknown: 'template_not_found',
      errors: ['missing_required_field', 'unknown_attachment'],
      body: lintBody,
      bodyOptional: true,
      response: templateLint,
      async handler({ params, body, organizationId, strict }, { tenants: { templates }, lintInput }) {
        const options = knownFields(lintInput, body, strict)
        const { findings, ...rest } = await templates.lint(organizationId, params.idOrName ?? '', options)
        // Tenants must not see what the application's code throws.
        return { body: { ...rest, findings: findings.map(({ cause: _, ...finding }) => finding) } }
      },
    },
    {
      operation: 'lintTemplateDraft',
      summary: 'Find faults of an unsaved template; nothing is stored or sent',
      method: 'POST',
      paths: ['/v1/template-lints'],
      permission: 'Read Only',
      errors: ['missing_required_field', 'invalid_channel', 'unknown_attachment'],
      body: templateDraft,
      response: templateLint,
      async handler({ body, organizationId, strict }, { tenants: { templates }, previewInputs }) {
        // Untyped: the notifier parses it.
        const draft = knownFields(previewInputs.draft, body, strict) as unknown as TemplateDraft
        return { body: await templates.lintDraft(organizationId, draft) }
      },
    },
  ],
)
