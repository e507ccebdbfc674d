import { NotifierError } from '../../core/errors/notifier-error.ts'
import { parseInput } from '../../core/input/parse.ts'
import {
  type HandlerResult,
  type RequestContext,
  type Route,
  routesOf,
  type Tag,
  type TenantsOf,
} from '../../core/rest/route.ts'
import type { PreferencesApi } from './api.ts'
import { type PreferencesOf, preferencesInput, preferencesOf } from './input.ts'
import { preferencesQuery } from './query-schemas.ts'
import { preferencesRecord } from './schemas.ts'

/** The methods of a notifier that the handlers use. */
export type Served = TenantsOf<{ readonly preferences: PreferencesApi }>

const TAG: Tag = { name: 'Preferences', description: 'What people want to get.' }

const ORGANIZATION: PreferencesOf = Object.freeze({ organization: true })

/** The person that the query names. */
function personIn({ query }: RequestContext): PreferencesOf {
  if (['recipient', 'channel', 'to'].every((name) => query[name] === undefined)) {
    throw new NotifierError('invalid_parameter', {
      message:
        'The URL must name the person, as ?recipient=… or ?channel=…&to=…; the body has only the cells.',
      details: { field: 'query' },
    })
  }
  return parseInput(preferencesOf, parseInput(preferencesQuery, query, 'query'), 'query')
}

type Who = (context: RequestContext) => PreferencesOf

function get(who: Who) {
  return async (context: RequestContext, { tenants }: Served): Promise<HandlerResult> => ({
    body: await tenants.preferences.get(context.organizationId, who(context)),
  })
}

function change(who: Who) {
  return async (context: RequestContext, { tenants }: Served): Promise<HandlerResult> => ({
    body: await tenants.preferences.change(context.organizationId, who(context), context.body),
  })
}

function replace(who: Who) {
  return async (context: RequestContext, { tenants }: Served): Promise<HandlerResult> => ({
    body: await tenants.preferences.replace(context.organizationId, who(context), context.body),
  })
}

const person = { paths: ['/v1/preferences'], query: preferencesQuery, response: preferencesRecord } as const
const organization = { paths: ['/v1/preferences/organization'], response: preferencesRecord } as const
const invalidPerson = [
  'missing_required_field',
  'invalid_channel',
  'invalid_email',
  'invalid_phone',
  'invalid_recipient',
] as const
const ofOrganization: Who = () => ORGANIZATION

export const preferenceRoutes: readonly Route<Served>[] = routesOf({ tag: TAG, belongsTo: 'organization' }, [
  {
    ...person,
    operation: 'getPreferences',
    summary: 'Get the preferences of a person',
    method: 'GET',
    permission: 'Read Only',
    errors: invalidPerson,
    handler: get(personIn),
  },
  {
    ...person,
    operation: 'changePreferences',
    summary: 'Change single preferences of a person; others stay',
    method: 'PATCH',
    permission: 'Write',
    audited: ['preferences.updated'],
    errors: [...invalidPerson, 'unknown_category'],
    body: preferencesInput,
    handler: change(personIn),
  },
  {
    ...person,
    operation: 'replacePreferences',
    summary: 'Replace all preferences of a person',
    method: 'PUT',
    permission: 'Write',
    audited: ['preferences.updated'],
    errors: [...invalidPerson, 'unknown_category'],
    body: preferencesInput,
    handler: replace(personIn),
  },
  {
    ...organization,
    operation: 'getOrganizationPreferences',
    summary: 'Get the preferences of the organization for all its people',
    method: 'GET',
    permission: 'Read Only',
    handler: get(ofOrganization),
  },
  {
    ...organization,
    operation: 'changeOrganizationPreferences',
    summary: 'Change single preferences of the organization; others stay',
    method: 'PATCH',
    permission: 'Full Access',
    audited: ['preferences.updated'],
    errors: ['invalid_channel', 'unknown_category'],
    body: preferencesInput,
    handler: change(ofOrganization),
  },
  {
    ...organization,
    operation: 'replaceOrganizationPreferences',
    summary: 'Replace all preferences of the organization',
    method: 'PUT',
    permission: 'Full Access',
    audited: ['preferences.updated'],
    errors: ['invalid_channel', 'unknown_category'],
    body: preferencesInput,
    handler: replace(ofOrganization),
  },
])
