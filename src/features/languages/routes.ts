import { parseInput } from '../../core/input/parse.ts'
import { listQuery } from '../../core/rest/query-schemas.ts'
import { type Route, routesOf, type Tag, type TenantsOf } from '../../core/rest/route.ts'
import { deleted } from '../../core/rest/schemas.ts'
import { TEMPLATE_LISTS } from '../../core/text/routes.ts'
import type { Catalogues, TranslationReports } from './api.ts'
import { type CataloguePut, cataloguePut } from './input.ts'
import { catalogueList, catalogueRecord, missingTranslationList } from './schemas.ts'

/** The methods of a notifier that the handlers use. */
export type Served = TenantsOf<{ readonly messages: Catalogues; readonly templates: TranslationReports }>

const TAG: Tag = {
  name: 'Messages',
  description: 'Catalogues of messages for templates in several languages.',
}

const one = ['/v1/messages/{locale}']

export const catalogueRoutes: readonly Route<Served>[] = routesOf({ tag: TAG, belongsTo: 'organization' }, [
  {
    operation: 'listCatalogues',
    summary: 'List the catalogues of messages by locale',
    method: 'GET',
    paths: ['/v1/messages'],
    permission: 'Read Only',
    response: catalogueList,
    handler: async ({ organizationId }, { tenants }) => ({
      body: await tenants.messages.list(organizationId),
    }),
  },
  {
    operation: 'getCatalogue',
    summary: 'Get the messages of a locale',
    method: 'GET',
    paths: one,
    permission: 'Read Only',
    unknown: 'not_found',
    response: catalogueRecord,
    handler: async ({ params, organizationId }, { tenants }) => ({
      body: await tenants.messages.get(organizationId, params.locale ?? ''),
    }),
  },
  {
    operation: 'putCatalogue',
    summary: 'Replace the messages of a locale; queued notifications keep the earlier ones',
    method: 'PUT',
    paths: one,
    permission: 'Write',
    audited: ['messages.updated'],
    unknown: 'not_found',
    errors: ['missing_required_field', 'version_conflict'],
    body: cataloguePut,
    response: catalogueRecord,
    async handler({ params, body, organizationId }, { tenants }) {
      const { messages, version }: CataloguePut = parseInput(cataloguePut, body)
      return { body: await tenants.messages.put(organizationId, params.locale ?? '', messages, { version }) }
    },
  },
  {
    operation: 'deleteCatalogue',
    summary: 'Delete the messages of a locale; queued notifications keep them',
    method: 'DELETE',
    paths: one,
    permission: 'Full Access',
    audited: ['messages.deleted'],
    unknown: 'not_found',
    response: deleted,
    async handler({ params, organizationId }, { tenants }) {
      await tenants.messages.delete(organizationId, params.locale ?? '')
      return { body: { deleted: true } }
    },
  },
  {
    operation: 'listMissingTranslations',
    summary: 'List what templates lack in the locales of the organization',
    method: 'GET',
    paths: ['/v1/missing-translations'],
    permission: 'Read Only',
    limit: TEMPLATE_LISTS,
    query: listQuery,
    response: missingTranslationList,
    handler: async ({ query, organizationId }, { tenants }) => ({
      body: await tenants.templates.missing(organizationId, parseInput(listQuery, query, 'query')),
    }),
  },
])
