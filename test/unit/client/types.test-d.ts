import { expectTypeOf, it } from 'vitest'
import type * as z from 'zod'
import type { CallOptions, Client } from '../../../src/client/index.ts'
import type * as explain from '../../../src/core/explain/schemas.ts'
import type * as limits from '../../../src/core/limits/schemas.ts'
import type { logList } from '../../../src/core/notification/log-schemas.ts'
import type * as notifications from '../../../src/core/notification/schemas.ts'
import type * as text from '../../../src/core/text/schemas.ts'
import type * as apiKeys from '../../../src/features/api-keys/schemas.ts'
import type { uploadRecord } from '../../../src/features/attachments/schemas.ts'
import type { auditList } from '../../../src/features/audit/schemas.ts'
import type * as categories from '../../../src/features/categories/schemas.ts'
import type * as people from '../../../src/features/custody/schemas.ts'
import type { retryResult } from '../../../src/features/failures/schemas.ts'
import type * as languages from '../../../src/features/languages/schemas.ts'
import type * as layouts from '../../../src/features/layouts/schemas.ts'
import type { templateLint } from '../../../src/features/lint/schemas.ts'
import type * as organizations from '../../../src/features/organizations/schemas.ts'
import type { preferencesRecord } from '../../../src/features/preferences/schemas.ts'
import type { refusalList } from '../../../src/features/refusals/schemas.ts'
import type { retentionPreview } from '../../../src/features/retention/schemas.ts'
import type * as statistics from '../../../src/features/statistics/schemas.ts'
import type * as suppressions from '../../../src/features/suppressions/schemas.ts'
import type * as webhooks from '../../../src/features/webhook-events/schemas.ts'
import type { Tenant } from '../../../src/index.ts'

declare const client: Client

/** Compiles if what a route answers is what the method gives. */
declare function answers<Schema extends z.ZodType>(
  ...methods: readonly ((...input: never[]) => Promise<z.output<Schema>>)[]
): void

it('methods give what the schemas of their routes say', () => {
  const { templates, layouts: layout, webhooks: hooks, deadLetters, preferences } = client
  const { get, cancel, reschedule, retry } = client.notifications
  answers<typeof notifications.validatedSend>(client.validate)
  answers<typeof notifications.notificationList>(client.notifications.list, deadLetters.list)
  answers<typeof notifications.notificationRecord>(get, cancel, reschedule, retry)
  answers<typeof notifications.failureGroups>(deadLetters.groups)
  answers<typeof explain.explanation>(client.notifications.explain)
  answers<typeof retryResult>(deadLetters.retry)
  answers<typeof refusalList>(client.refusals.list)
  answers<typeof uploadRecord>(client.attachments.upload)
  answers<typeof text.templateRecord>(templates.create, templates.get, templates.update, templates.publish)
  answers<typeof text.templateList>(templates.list)
  answers<typeof text.templateVersionRecord>(templates.version)
  answers<typeof text.templateVersionList>(templates.versions)
  answers<typeof text.templateDraftRecord>(templates.draft, templates.saveDraft)
  answers<typeof text.templateComparison>(templates.compare)
  answers<typeof text.templatePreview>(templates.preview, templates.previewDraft)
  answers<typeof templateLint>(templates.lint, templates.lintDraft)
  answers<typeof layouts.sharedTextRecord>(layout.create, layout.get, layout.update, layout.restore)
  answers<typeof layouts.sharedTextList>(layout.list)
  answers<typeof layouts.sharedTextVersionRecord>(layout.version)
  answers<typeof layouts.sharedTextVersionList>(layout.versions)
  answers<typeof languages.catalogueRecord>(client.messages.get, client.messages.put)
  answers<typeof languages.catalogueList>(client.messages.list)
  answers<typeof languages.missingTranslationList>(templates.missing)
  answers<typeof logList>(client.logs.list)
  answers<typeof statistics.statistics>(client.statistics.get)
  answers<typeof statistics.operations>(client.operations)
  answers<typeof retentionPreview>(client.retention.preview, client.allOrganizations.retention.preview)
  answers<typeof limits.identity>(client.identity)
  answers<typeof limits.accountLimits>(client.limits.get)
  answers<typeof apiKeys.apiKeyRecord>(client.apiKeys.get)
  answers<typeof apiKeys.apiKeyList>(client.apiKeys.list)
  answers<typeof apiKeys.createdApiKey>(client.apiKeys.create, client.apiKeys.rotate)
  answers<typeof webhooks.webhookEndpointRecord>(hooks.get, hooks.update)
  answers<typeof webhooks.webhookEndpointList>(hooks.list)
  answers<typeof webhooks.createdWebhookEndpoint>(hooks.create, hooks.rotateSecret)
  answers<typeof webhooks.webhookPostRecord>(hooks.test)
  answers<typeof webhooks.webhookDeliveryList>(hooks.deliveries)
  answers<typeof webhooks.webhookDeliveryRecord>(hooks.redeliverOne)
  answers<typeof webhooks.redelivered>(hooks.redeliver)
  answers<typeof webhooks.notificationDeliveries>(client.notifications.webhookDeliveries)
  answers<typeof suppressions.suppressionRecord>(client.suppressions.add)
  answers<typeof suppressions.suppressionList>(client.suppressions.list)
  answers<typeof categories.categoryRecord>(client.categories.create, client.categories.get)
  answers<typeof categories.categoryList>(client.categories.list)
  answers<typeof preferencesRecord>(preferences.get, preferences.change, preferences.replace)
  answers<typeof organizations.organizationRecord>(client.organizations.create, client.organizations.get)
  answers<typeof organizations.organizationList>(client.organizations.list)
  answers<typeof organizations.organizationDeletion>(client.organizations.delete)
  answers<typeof people.erasureRecord>(client.people.erase, client.people.getErasure)
  answers<typeof people.erasureList>(client.people.listErasures)
  answers<typeof auditList>(client.auditLog.list)
  // @ts-expect-error: a list is no record
  answers<typeof text.templateList>(templates.get)
})

it('a send gives the notification, and not what a validation gives', async () => {
  type Sent = Awaited<ReturnType<typeof client.send>>
  expectTypeOf<z.output<typeof notifications.sentNotification>>().toEqualTypeOf<Omit<Sent, 'replayed'>>()
  expectTypeOf<Sent>().not.toHaveProperty('rendered')
  type Batch = Awaited<ReturnType<typeof client.sendBatch>>
  expectTypeOf<z.output<typeof notifications.batchResult>>().toEqualTypeOf<Omit<Batch, 'replayed'>>()
  expectTypeOf(client.explain).returns.resolves.toEqualTypeOf<
    z.output<typeof explain.explanations>['explanations']
  >()
})

it('an organization has the methods that it has in code', () => {
  expectTypeOf<Exclude<keyof Tenant, '~parts'>>().toEqualTypeOf<
    keyof ReturnType<Client['organization']> | 'waitFor'
  >()
  expectTypeOf(client.suppressions.list).parameters.toEqualTypeOf<
    [...Parameters<Tenant['suppressions']['list']>, options?: CallOptions | undefined]
  >()
})
