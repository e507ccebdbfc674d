import * as z from 'zod'
import { sendInput } from '../../core/accept/input.ts'
import { channel, instant, jsonObject } from '../../core/input/fields.ts'
import { accountLimits, identity, limitUsage } from '../../core/limits/schemas.ts'
import { logEntry, logList } from '../../core/notification/log-schemas.ts'
import { rescheduleInput } from '../../core/notification/reschedule-input.ts'
import {
  batchInput,
  batchInputOf,
  batchResult,
  notificationList,
  notificationRecord,
  notificationSummary,
  sentNotification,
  validatedSend,
} from '../../core/notification/schemas.ts'
import { deleted, failure, notificationStatus } from '../../core/rest/schemas.ts'
import { draftChange, publishOptions } from '../../core/text/draft-input.ts'
import { templateChange, templateInput } from '../../core/text/input.ts'
import { lintInput, previewInput, templateDraft } from '../../core/text/preview-input.ts'
import {
  templateComparison,
  templateDraftRecord,
  templateLint,
  templateList,
  templatePreview,
  templateRecord,
  templateVersionList,
  templateVersionRecord,
} from '../../core/text/schemas.ts'
import { apiKeyInput, keyRotation } from '../../features/api-keys/input.ts'
import { apiKeyList, apiKeyRecord, createdApiKey } from '../../features/api-keys/schemas.ts'
import { uploadRecord } from '../../features/attachments/schemas.ts'
import { categoryChange, categoryInput } from '../../features/categories/input.ts'
import { categoryList, categoryRecord } from '../../features/categories/schemas.ts'
import { retryInput } from '../../features/failures/input.ts'
import { failureGroups, retryResult } from '../../features/failures/schemas.ts'
import { operations, statistics } from '../../features/failures/statistics-schemas.ts'
import { cataloguePut } from '../../features/languages/input.ts'
import {
  catalogueList,
  catalogueRecord,
  catalogueSummary,
  missingTranslationList,
  missingTranslations,
} from '../../features/languages/schemas.ts'
import { layoutChange, layoutInput, partialChange, partialInput } from '../../features/layouts/input.ts'
import {
  sharedTextList,
  sharedTextRecord,
  sharedTextVersionList,
  sharedTextVersionRecord,
} from '../../features/layouts/schemas.ts'
import { organizationChange, organizationInput } from '../../features/organizations/input.ts'
import {
  organizationDeletion,
  organizationList,
  organizationRecord,
} from '../../features/organizations/schemas.ts'
import { preferencesInput } from '../../features/preferences/input.ts'
import { preferencesRecord } from '../../features/preferences/schemas.ts'
import { suppressionInput } from '../../features/suppressions/input.ts'
import { suppressionList, suppressionRecord } from '../../features/suppressions/schemas.ts'
import {
  redeliverInput,
  secretRotation,
  webhookEndpointChange,
  webhookEndpointInput,
} from '../../features/webhook-events/input.ts'
import {
  createdWebhookEndpoint,
  notificationDeliveries,
  redelivered,
  webhookDeliveryList,
  webhookDeliveryRecord,
  webhookEndpointList,
  webhookEndpointRecord,
  webhookPostRecord,
} from '../../features/webhook-events/schemas.ts'
import type { Service } from '../../service.ts'
import { healthStatus } from '../service-schemas.ts'
import type { JsonObject } from './types.ts'

/** Schemas of requests. Generated code uses their names, so they never change. */
const INPUTS: readonly (readonly [name: string, schema: z.ZodType])[] = [
  ['SendRequest', sendInput],
  ['BatchRequest', batchInput],
  ['TemplateRequest', templateInput],
  ['TemplateChange', templateChange],
  ['DraftChange', draftChange],
  ['PublishRequest', publishOptions],
  ['PreviewRequest', previewInput],
  ['TemplateDraft', templateDraft],
  ['LintRequest', lintInput],
  ['LayoutRequest', layoutInput],
  ['LayoutChange', layoutChange],
  ['PartialRequest', partialInput],
  ['PartialChange', partialChange],
  ['CatalogueRequest', cataloguePut],
  ['ApiKeyRequest', apiKeyInput],
  ['ApiKeyRotationRequest', keyRotation],
  ['WebhookEndpointRequest', webhookEndpointInput],
  ['WebhookEndpointChange', webhookEndpointChange],
  ['SecretRotationRequest', secretRotation],
  ['RedeliverRequest', redeliverInput],
  ['RescheduleRequest', rescheduleInput],
  ['SuppressionRequest', suppressionInput],
  ['CategoryRequest', categoryInput],
  ['CategoryChange', categoryChange],
  ['PreferencesRequest', preferencesInput],
  ['RetryRequest', retryInput],
  ['OrganizationRequest', organizationInput],
  ['OrganizationChange', organizationChange],
]

/** Schemas of responses. Generated code uses their names, so they never change. */
const OUTPUTS: readonly (readonly [name: string, schema: z.ZodType])[] = [
  ['Channel', channel],
  ['NotificationStatus', notificationStatus],
  ['Failure', failure],
  ['SentNotification', sentNotification],
  ['ValidatedSend', validatedSend],
  ['BatchResult', batchResult],
  ['Notification', notificationRecord],
  ['NotificationSummary', notificationSummary],
  ['NotificationList', notificationList],
  ['Template', templateRecord],
  ['TemplateList', templateList],
  ['TemplateVersion', templateVersionRecord],
  ['TemplateVersionList', templateVersionList],
  ['DraftOfTemplate', templateDraftRecord],
  ['TemplateComparison', templateComparison],
  ['Rendered', templatePreview],
  ['TemplateLint', templateLint],
  ['SharedText', sharedTextRecord],
  ['SharedTextList', sharedTextList],
  ['SharedTextVersion', sharedTextVersionRecord],
  ['SharedTextVersionList', sharedTextVersionList],
  ['CatalogueSummary', catalogueSummary],
  ['Catalogue', catalogueRecord],
  ['CatalogueList', catalogueList],
  ['MissingTranslations', missingTranslations],
  ['MissingTranslationList', missingTranslationList],
  ['LogEntry', logEntry],
  ['LogList', logList],
  ['LimitUsage', limitUsage],
  ['AccountLimits', accountLimits],
  ['Identity', identity],
  ['ApiKey', apiKeyRecord],
  ['CreatedApiKey', createdApiKey],
  ['ApiKeyList', apiKeyList],
  ['WebhookEndpoint', webhookEndpointRecord],
  ['CreatedWebhookEndpoint', createdWebhookEndpoint],
  ['WebhookEndpointList', webhookEndpointList],
  ['WebhookPost', webhookPostRecord],
  ['WebhookDelivery', webhookDeliveryRecord],
  ['WebhookDeliveryList', webhookDeliveryList],
  ['NotificationWebhookDeliveries', notificationDeliveries],
  ['Redelivered', redelivered],
  ['RetryResult', retryResult],
  ['FailureGroups', failureGroups],
  ['Statistics', statistics],
  ['Operations', operations],
  ['Suppression', suppressionRecord],
  ['SuppressionList', suppressionList],
  ['Upload', uploadRecord],
  ['Category', categoryRecord],
  ['CategoryList', categoryList],
  ['Preferences', preferencesRecord],
  ['Organization', organizationRecord],
  ['OrganizationList', organizationList],
  ['OrganizationDeletion', organizationDeletion],
  ['Deleted', deleted],
  ['Health', healthStatus],
]

/** What the document tells of a notifier. */
export type DocumentedService = Pick<Service, 'sendInput' | 'previewInputs' | 'channels'>

const names = new Map([...INPUTS, ...OUTPUTS].map(([name, schema]) => [schema, name]))

/**
 * The named schemas.
 *
 * @param strict inputs refuse unknown fields
 * @param service the schemas with the parts of the notifier's channels
 */
export function componentSchemas(
  strict: boolean,
  { sendInput: send, previewInputs, channels }: DocumentedService,
): Readonly<Record<string, JsonObject>> {
  const own = new Map<string, z.ZodType>([
    ['SendRequest', send],
    ['BatchRequest', batchInputOf(send)],
    ['PreviewRequest', previewInputs.body],
    ['LintRequest', previewInputs.lint],
    ['TemplateDraft', previewInputs.draft],
  ])
  const inputs = convertAll(
    INPUTS.map(([name, schema]) => [name, own.get(name) ?? schema]),
    'input',
  )
  if (strict) {
    for (const schema of Object.values(inputs)) schema.additionalProperties = false
  }
  const Channel = { type: 'string', enum: channels }
  return { ...inputs, ...convertAll(OUTPUTS, 'output'), Channel }
}

/** A reference to a named schema, or an unnamed schema inline. */
export function schemaOf(schema: z.ZodType): JsonObject {
  const name = names.get(schema)
  return name === undefined ? convert(schema) : { $ref: refTo(name) }
}

/** The query parameters of a schema, with the types of their parsed values. */
export function queryParameters(schema: z.ZodType): readonly JsonObject[] {
  const { properties, required = [] } = convert(schema) as {
    properties: Readonly<Record<string, JsonObject>>
    required?: readonly string[]
  }
  return Object.entries(properties).map(([name, { description, ...rest }]) => ({
    name,
    in: 'query',
    ...(required.includes(name) ? { required: true } : {}),
    ...(description === undefined ? {} : { description }),
    // The default style repeats the parameter once per item, which the API refuses.
    ...(rest.type === 'array' ? { style: 'form', explode: false } : {}),
    ...(rest.type === 'object' ? { style: 'deepObject', explode: true } : {}),
    schema: rest,
  }))
}

const refTo = (name: string): string => `#/components/schemas/${name}`

type Mutable = Record<string, unknown>

function convertAll(
  entries: readonly (readonly [name: string, schema: z.ZodType])[],
  io: 'input' | 'output',
): Record<string, Mutable> {
  const registry = z.registry<{ id: string }>()
  for (const [id, schema] of entries) registry.add(schema, { id })
  const { schemas } = z.toJSONSchema(registry, {
    io,
    unrepresentable: 'any',
    override: io === 'input' ? refineSchema : refineAnswer,
    uri: refTo,
  })
  return Object.fromEntries(
    Object.entries(schemas).map(([name, { $schema: _dialect, $id: _id, ...schema }]) => [name, schema]),
  )
}

function convert(schema: z.ZodType): JsonObject {
  const { $schema: _dialect, ...rest } = z.toJSONSchema(schema, {
    unrepresentable: 'any',
    override: refineAnswer,
  })
  return rest
}

/** Translates refinements to JSON Schema and drops redundant keywords. */
function refineSchema({ zodSchema, jsonSchema }: { zodSchema: z.core.$ZodType; jsonSchema: Mutable }): void {
  // Some generators take an object without properties for an empty one.
  if (zodSchema === jsonObject) Object.assign(jsonSchema, { type: 'object', additionalProperties: true })
  if (zodSchema === channel && jsonSchema.$ref === undefined) {
    for (const key of Object.keys(jsonSchema)) if (key !== 'description') delete jsonSchema[key]
    jsonSchema.$ref = refTo('Channel')
  }
  if (zodSchema === instant) {
    delete jsonSchema.anyOf
    Object.assign(jsonSchema, { type: 'string', format: 'date-time' })
  }
  if (jsonSchema.format === 'date-time') delete jsonSchema.pattern
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  delete jsonSchema.propertyNames
}

/** Clients must tolerate new fields in answers. */
function refineAnswer(context: Parameters<typeof refineSchema>[0]): void {
  refineSchema(context)
  const { jsonSchema } = context
  if (jsonSchema.additionalProperties === false) delete jsonSchema.additionalProperties
}
