/**
 * The method and path of an operation, and words that say how a call becomes a request. Its parameters are those of the path in
 * order, then by these words:
 *
 * - `query`, `list`: the query. A list has pages.
 * - `body`: a JSON object. `bytes`: the body as it is, with its type.
 *
 * - `key`: it takes an idempotency key, and answers whether it was replayed.
 * - `safe`: it changes nothing, whatever its HTTP method.
 * - `test`: it validates only.
 * - `lines`: the answer has lines of JSON.
 * - `void`: the answer says only that it is done.
 */
export type Operation = `${'GET' | 'POST' | 'PATCH' | 'PUT' | 'DELETE'} /${string}`

/** Operations by the names of their methods. */
export interface Operations {
  readonly [name: string]: Operation | Operations
}

/** Layouts and partials have the same operations. */
const sharedTexts = (path: `/${string}`): Operations => ({
  create: `POST ${path} body`,
  get: `GET ${path}/{idOrName}`,
  list: `GET ${path} list`,
  update: `PATCH ${path}/{idOrName} body`,
  versions: `GET ${path}/{idOrName}/versions list`,
  version: `GET ${path}/{idOrName}/versions/{version}`,
  restore: `POST ${path}/{idOrName}/versions/{version}/restore`,
  delete: `DELETE ${path}/{idOrName} void`,
})

const notifications: Operations = { list: 'GET /v1/notifications list' }
const deadLetters: Operations = {
  list: 'GET /v1/dead-letters list',
  groups: 'GET /v1/dead-letters/groups query',
}
const webhooks: Operations = {
  create: 'POST /v1/webhooks body',
  get: 'GET /v1/webhooks/{id}',
  list: 'GET /v1/webhooks list',
  update: 'PATCH /v1/webhooks/{id} body',
  rotateSecret: 'POST /v1/webhooks/{id}/rotate-secret body',
  test: 'POST /v1/webhooks/{id}/test',
  deliveries: 'GET /v1/webhooks/{id}/deliveries list',
  redeliver: 'POST /v1/webhooks/{id}/redeliver body',
  redeliverOne: 'POST /v1/webhooks/{id}/deliveries/{eventId}/redeliver',
  delete: 'DELETE /v1/webhooks/{id} void',
}

/** Operations of one organization or of all. */
const shared: Operations = {
  webhooks,
  statistics: { get: 'GET /v1/statistics query' },
  logs: { list: 'GET /v1/logs list' },
  auditLog: { list: 'GET /v1/audit-log list' },
  retention: { preview: 'GET /v1/retention/preview' },
  people: {
    erase: 'POST /v1/erasures body',
    getErasure: 'GET /v1/erasures/{id}',
    listErasures: 'GET /v1/erasures list',
    export: 'POST /v1/exports body lines',
  },
}

export const OF_ALL: Operations = { ...shared, notifications, deadLetters }

export const OF_ONE: Operations = {
  ...shared,
  send: 'POST /v1/notifications body key',
  validate: 'POST /v1/notifications body safe test',
  sendBatch: 'POST /v1/notifications/batch body key',
  explain: 'POST /v1/explain body safe',
  notifications: {
    ...notifications,
    get: 'GET /v1/notifications/{id} query',
    cancel: 'POST /v1/notifications/{id}/cancel',
    reschedule: 'POST /v1/notifications/{id}/reschedule body',
    resend: 'POST /v1/notifications/{id}/resend key',
    retry: 'POST /v1/notifications/{id}/retry',
    explain: 'GET /v1/notifications/{id}/explain',
    webhookDeliveries: 'GET /v1/notifications/{id}/webhook-deliveries',
  },
  deadLetters: { ...deadLetters, retry: 'POST /v1/dead-letters/retry body' },
  refusals: { list: 'GET /v1/refusals list' },
  attachments: {
    upload: 'POST /v1/attachments query bytes',
    delete: 'DELETE /v1/attachments/{id} void',
  },
  templates: {
    ...sharedTexts('/v1/templates'),
    compare: 'GET /v1/templates/{idOrName}/versions/{version}/compare/{other}',
    draft: 'GET /v1/templates/{idOrName}/draft',
    saveDraft: 'PATCH /v1/templates/{idOrName}/draft body',
    publish: 'POST /v1/templates/{idOrName}/draft/publish body',
    discardDraft: 'DELETE /v1/templates/{idOrName}/draft void',
    preview: 'POST /v1/templates/{idOrName}/preview body safe',
    previewDraft: 'POST /v1/template-previews body safe',
    lint: 'POST /v1/templates/{idOrName}/lint body safe',
    lintDraft: 'POST /v1/template-lints body safe',
    missing: 'GET /v1/missing-translations list',
  },
  layouts: sharedTexts('/v1/layouts'),
  partials: sharedTexts('/v1/partials'),
  messages: {
    put: 'PUT /v1/messages/{locale} body',
    get: 'GET /v1/messages/{locale}',
    list: 'GET /v1/messages',
    delete: 'DELETE /v1/messages/{locale} void',
  },
  apiKeys: {
    create: 'POST /v1/api-keys body',
    get: 'GET /v1/api-keys/{id}',
    list: 'GET /v1/api-keys list',
    rotate: 'POST /v1/api-keys/{id}/rotate body',
    delete: 'DELETE /v1/api-keys/{id} void',
  },
  suppressions: {
    add: 'POST /v1/suppressions body',
    list: 'GET /v1/suppressions list',
    remove: 'DELETE /v1/suppressions query void',
  },
  categories: {
    create: 'POST /v1/categories body',
    get: 'GET /v1/categories/{id}',
    list: 'GET /v1/categories',
    update: 'PATCH /v1/categories/{id} body',
    delete: 'DELETE /v1/categories/{id} void',
  },
  preferences: {
    get: 'GET /v1/preferences query',
    change: 'PATCH /v1/preferences query body',
    replace: 'PUT /v1/preferences query body',
  },
  organizationPreferences: {
    get: 'GET /v1/preferences/organization',
    change: 'PATCH /v1/preferences/organization body',
    replace: 'PUT /v1/preferences/organization body',
  },
  limits: { get: 'GET /v1/account/limits' },
}

/** Operations of the service. */
export const OF_SERVICE: Operations = {
  organizations: {
    create: 'POST /v1/organizations body',
    get: 'GET /v1/organizations/{id}',
    list: 'GET /v1/organizations list',
    update: 'PATCH /v1/organizations/{id} body',
    delete: 'DELETE /v1/organizations/{id} query',
    plans: 'GET /v1/plans',
  },
  identity: 'GET /v1/me',
  operations: 'GET /v1/operations',
  health: 'GET /health',
  openApi: 'GET /openapi.json',
}
