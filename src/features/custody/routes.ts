import { parseInput } from '../../core/input/parse.ts'
import {
  type HandlerResult,
  type RequestContext,
  type Route,
  routesOf,
  type Tag,
  type TenantsOf,
} from '../../core/rest/route.ts'
import { parseSubject } from '../../core/tenancy/scope.ts'
import type { PeopleApi } from './api.ts'
import { erasureRequest, exportRequest } from './input.ts'
import type { PersonInput } from './model.ts'
import { erasureList, erasureQuery, erasureRecord, exportedLine } from './schemas.ts'

/** The methods of a notifier that the handlers use. */
export type Served = TenantsOf<{ readonly people: PeopleApi }>

const TAG: Tag = { name: 'People', description: 'Erasure and export of what is stored about a person.' }

async function erase(
  { body, organizationId, request }: RequestContext,
  { tenants }: Served,
): Promise<HandlerResult> {
  const { dryRun, ...person } = parseSubject(erasureRequest, body)
  const erasure = await tenants.people.erase(organizationId, person as PersonInput, {
    dryRun,
    signal: request,
  })
  return { body: erasure, status: erasure.id === null ? 200 : 202 }
}

const errors = [
  'missing_required_field',
  'invalid_channel',
  'invalid_email',
  'invalid_phone',
  'invalid_recipient',
] as const

export const peopleRoutes: readonly Route<Served>[] = routesOf({ tag: TAG, belongsTo: 'organization' }, [
  {
    operation: 'erasePerson',
    allOrganizations: true,
    summary: 'Erase a person; with dryRun only count',
    method: 'POST',
    paths: ['/v1/erasures'],
    permission: 'Full Access',
    audited: ['person.erased'],
    irreversible: true,
    status: 202,
    errors: [...errors, 'erasure_limit_reached'],
    body: erasureRequest,
    response: erasureRecord,
    otherwise: { status: 200, when: 'A dry run.', response: erasureRecord },
    handler: erase,
  },
  {
    operation: 'listErasures',
    allOrganizations: true,
    summary: 'List erasures, newest first',
    method: 'GET',
    paths: ['/v1/erasures'],
    permission: 'Full Access',
    query: erasureQuery,
    response: erasureList,
    handler: async ({ query, organizationId }, { tenants }) => ({
      body: await tenants.people.listErasures(organizationId, parseInput(erasureQuery, query, 'query')),
    }),
  },
  {
    operation: 'getErasure',
    allOrganizations: true,
    summary: 'Get an erasure',
    method: 'GET',
    paths: ['/v1/erasures/{id}'],
    permission: 'Full Access',
    unknown: 'not_found',
    response: erasureRecord,
    handler: async ({ params, organizationId }, { tenants }) => ({
      body: await tenants.people.getErasure(organizationId, params.id ?? ''),
    }),
  },
  {
    operation: 'exportPerson',
    allOrganizations: true,
    summary: 'Export what is stored about a person, as lines of JSON',
    method: 'POST',
    paths: ['/v1/exports'],
    permission: 'Full Access',
    grants: ['content'],
    audited: ['person.exported'],
    errors,
    body: exportRequest,
    response: exportedLine,
    mediaType: 'application/x-ndjson',
    handler: async ({ body, organizationId, request }, { tenants }) => ({
      lines: await tenants.people.export(organizationId, body as unknown as PersonInput, { signal: request }),
    }),
  },
])
