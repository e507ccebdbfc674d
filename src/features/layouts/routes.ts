import type * as z from 'zod'
import { parseInput } from '../../core/input/parse.ts'
import { listQuery } from '../../core/rest/query-schemas.ts'
import {
  type HandlerResult,
  type RequestContext,
  type Route,
  routesOf,
  type Tag,
  type TenantsOf,
} from '../../core/rest/route.ts'
import { deleted } from '../../core/rest/schemas.ts'
import type { PerTenant } from '../../core/tenancy/per-tenant.ts'
import { TEMPLATE_CREATIONS, TEMPLATE_LISTS } from '../../core/text/routes.ts'
import { versionParam } from '../../core/text/version-param.ts'
import type { SharedTexts } from './api.ts'
import {
  layoutChange,
  layoutInput,
  partialChange,
  partialInput,
  type SharedTextChange,
  type SharedTextInput,
} from './input.ts'
import {
  sharedTextList,
  sharedTextRecord,
  sharedTextVersionList,
  sharedTextVersionRecord,
} from './schemas.ts'

/** The methods of a notifier that the handlers use. */
export type Served = TenantsOf<{ readonly layouts: SharedTexts; readonly partials: SharedTexts }>

interface Naming {
  readonly one: 'layout' | 'partial'
  readonly many: 'layouts' | 'partials'
  readonly input: z.ZodType
  readonly change: z.ZodType
  readonly tag: Tag
}

/** Layouts and partials have the same operations. */
function routesFor({ one, many, input, change, tag }: Naming): readonly Route<Served>[] {
  const One = one === 'layout' ? 'Layout' : 'Partial'
  const texts = ({ tenants }: Served): PerTenant<SharedTexts> => tenants[many]
  const handler =
    (work: (context: RequestContext, texts: PerTenant<SharedTexts>) => Promise<unknown>) =>
    async (context: RequestContext, notifier: Served): Promise<HandlerResult> => ({
      body: await work(context, texts(notifier)),
    })
  const collection = [`/v1/${many}`]
  const single = [`/v1/${many}/{idOrName}`]
  const version = [`/v1/${many}/{idOrName}/versions/{version}`]
  return routesOf({ tag, belongsTo: 'organization' }, [
    {
      operation: `create${One}`,
      summary: `Create a ${one}`,
      method: 'POST',
      paths: collection,
      permission: 'Write',
      audited: [`${one}.created`],
      limit: TEMPLATE_CREATIONS,
      status: 201,
      errors: ['missing_required_field', 'already_exists', 'invalid_template'],
      body: input,
      response: sharedTextRecord,
      // Untyped: the notifier parses it with the same schema.
      handler: handler(({ body, organizationId }, { create }) =>
        create(organizationId, body as unknown as SharedTextInput),
      ),
    },
    {
      operation: `list${One}s`,
      summary: `List ${many}, newest first`,
      method: 'GET',
      paths: collection,
      permission: 'Read Only',
      limit: TEMPLATE_LISTS,
      query: listQuery,
      response: sharedTextList,
      handler: handler(({ query, organizationId }, { list }) =>
        list(organizationId, parseInput(listQuery, query, 'query')),
      ),
    },
    {
      operation: `get${One}`,
      summary: `Get a ${one} by its id or name`,
      method: 'GET',
      paths: single,
      permission: 'Read Only',
      unknown: 'not_found',
      response: sharedTextRecord,
      handler: handler(({ params, organizationId }, { get }) => get(organizationId, params.idOrName ?? '')),
    },
    {
      operation: `update${One}`,
      summary: `Change a ${one}; queued notifications keep their version`,
      method: 'PATCH',
      paths: single,
      permission: 'Write',
      audited: [`${one}.updated`],
      unknown: 'not_found',
      errors: ['version_conflict', 'invalid_template'],
      body: change,
      response: sharedTextRecord,
      handler: handler(({ params, body, organizationId }, { update }) =>
        update(organizationId, params.idOrName ?? '', body as SharedTextChange),
      ),
    },
    {
      operation: `list${One}Versions`,
      summary: `List the versions of a ${one}, newest first`,
      method: 'GET',
      paths: [`/v1/${many}/{idOrName}/versions`],
      permission: 'Read Only',
      unknown: 'not_found',
      query: listQuery,
      response: sharedTextVersionList,
      handler: handler(({ params, query, organizationId }, { versions }) =>
        versions(organizationId, params.idOrName ?? '', parseInput(listQuery, query, 'query')),
      ),
    },
    {
      operation: `get${One}Version`,
      summary: `Get one version of a ${one}`,
      method: 'GET',
      paths: version,
      permission: 'Read Only',
      unknown: 'not_found',
      response: sharedTextVersionRecord,
      handler: handler(({ params, organizationId }, texts) =>
        texts.version(organizationId, params.idOrName ?? '', versionParam(params)),
      ),
    },
    {
      operation: `restore${One}Version`,
      summary: `Restore an earlier version of a ${one} as a new version`,
      method: 'POST',
      paths: [`${version[0]}/restore`],
      permission: 'Write',
      audited: [`${one}.restored`],
      unknown: 'not_found',
      errors: ['invalid_template'],
      response: sharedTextRecord,
      handler: handler(({ params, organizationId }, { restore }) =>
        restore(organizationId, params.idOrName ?? '', versionParam(params)),
      ),
    },
    {
      operation: `delete${One}`,
      summary: `Delete a ${one}; queued notifications keep their version`,
      method: 'DELETE',
      paths: single,
      permission: 'Full Access',
      audited: [`${one}.deleted`],
      unknown: 'not_found',
      errors: ['text_in_use'],
      response: deleted,
      handler: handler(async ({ params, organizationId }, texts) => {
        await texts.delete(organizationId, params.idOrName ?? '')
        return { deleted: true }
      }),
    },
  ])
}

export const sharedTextRoutes: readonly Route<Served>[] = [
  ...routesFor({
    one: 'layout',
    many: 'layouts',
    input: layoutInput,
    change: layoutChange,
    tag: { name: 'Layouts', description: 'Texts around those of templates.' },
  }),
  ...routesFor({
    one: 'partial',
    many: 'partials',
    input: partialInput,
    change: partialChange,
    tag: { name: 'Partials', description: 'Texts that others insert with `{{> name}}`.' },
  }),
]
