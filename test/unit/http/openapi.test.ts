import { readFileSync } from 'node:fs'
import { Ajv2020 } from 'ajv/dist/2020.js'
import { describe, expect, it } from 'vitest'
import * as z from 'zod'
import { sendInput } from '../../../src/core/accept/input.ts'
import type { JsonObject, Operation } from '../../../src/core/rest/openapi.ts'
import { retryInput } from '../../../src/features/failures/input.ts'
import { organizationChange } from '../../../src/features/organizations/input.ts'
import { openApiDocument } from '../../../src/http/openapi/document.ts'
import { ROUTES } from '../../../src/routes.ts'
import { SEND_INPUT, SERVICE } from '../../support/kinds.ts'

const document = openApiDocument(ROUTES, SERVICE, { errorFormat: 'nested', strictBody: false })
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
)

function bodyOf(operation: Operation): { schema: JsonObject; example?: unknown } {
  const { content } = operation.requestBody as { content: Record<string, { schema: JsonObject }> }
  return content['application/json'] ?? { schema: {} }
}

/** For people, or for their mail programs. */
const PAGES: readonly string[] = ['/unsubscribe', '/preferences', '/open', '/click']

describe('the document', () => {
  it('has every route at every path, and no two operations of one name', () => {
    const wanted = ROUTES.flatMap(({ method, paths }) => paths.map((path) => `${method} ${path}`))
    expect(operations.map(({ path, method }) => `${method.toUpperCase()} ${path}`).sort()).toEqual(
      wanted.sort(),
    )
    expect(new Set(operations.map(({ operation }) => operation.operationId)).size).toBe(operations.length)
  })

  it.each([
    ['listNotifications', 'invalid_channel'],
    ['listLogs', 'invalid_channel'],
    ['adminListLogs', 'invalid_channel'],
    ['listDeadLetters', 'invalid_channel'],
    ['sendNotification', 'message_too_large'],
    ['sendNotification', 'region_not_permitted'],
    ['resendNotification', 'region_not_permitted'],
    ['previewTemplate', 'message_too_large'],
    ['saveTemplateDraft', 'invalid_parameter'],
  ])('says that %s can be answered with 422 %s', (operationId, code) => {
    const found = operations.find(({ operation }) => operation.operationId === operationId)
    expect(JSON.stringify(found?.operation.responses['422'])).toContain(`"${code}"`)
  })

  it('keeps the names that generated clients use', () => {
    // More may come; none of these may go.
    const operationIds = operations.map(({ operation }) => operation.operationId)
    expect(operationIds).toEqual(
      expect.arrayContaining([
        'adminCreateApiKey',
        'adminCreateTemplate',
        'adminDeleteApiKey',
        'adminDeleteTemplate',
        'adminGetTemplate',
        'adminListApiKeys',
        'adminListLogs',
        'adminListTemplates',
        'adminPreviewTemplate',
        'adminUpdateTemplate',
        'cancelNotification',
        'createApiKey',
        'createTemplate',
        'createWebhook',
        'deleteApiKey',
        'deleteTemplate',
        'deleteWebhook',
        'getAccountLimits',
        'getHealth',
        'getNotification',
        'getOpenApi',
        'getTemplate',
        'getWebhook',
        'listApiKeys',
        'listLogs',
        'listNotifications',
        'listTemplates',
        'listWebhooks',
        'previewTemplate',
        'resendNotification',
        'sendBatch',
        'sendNotification',
        'sendNotificationViaNotify',
        'updateTemplate',
      ]),
    )
    expect(Object.keys(document.components.schemas ?? {})).toEqual(
      expect.arrayContaining([
        'AccountLimits',
        'ApiKey',
        'ApiKeyList',
        'ApiKeyRequest',
        'BatchRequest',
        'BatchResult',
        'Channel',
        'CreatedApiKey',
        'CreatedWebhookEndpoint',
        'Deleted',
        'Error',
        'Failure',
        'Health',
        'LimitUsage',
        'LogEntry',
        'LogList',
        'Notification',
        'NotificationList',
        'NotificationStatus',
        'NotificationSummary',
        'PreviewRequest',
        'Rendered',
        'SendRequest',
        'SentNotification',
        'Template',
        'TemplateChange',
        'TemplateList',
        'TemplateRequest',
        'ValidatedSend',
        'WebhookEndpoint',
        'WebhookEndpointList',
        'WebhookEndpointRequest',
      ]),
    )
  })

  it('says how lists are written in a query, and bounds what is bounded', () => {
    const parameters = operations.flatMap(
      ({ operation }) => operation.parameters as { name?: string; explode?: boolean; schema: JsonObject }[],
    )
    const lists = parameters.filter(({ schema }) => schema?.type === 'array')
    expect(lists.map(({ name, explode }) => [name, explode])).toEqual([
      ['ids', false],
      ['ids', false],
      ['ids', false],
    ])
    for (const { schema } of parameters.filter(({ name }) => name === 'offset')) {
      expect(schema).toMatchObject({ maximum: 2_000 })
    }
    const key = document.components.parameters?.IdempotencyKey
    const validate = new Ajv2020().compile(key?.schema as JsonObject)
    expect(['a', 'x y', 'é', '', 'k'.repeat(255), 'k'.repeat(256)].map((text) => validate(text))).toEqual([
      true,
      false,
      false,
      false,
      true,
      false,
    ])
  })

  it('refers to named schemas for every body and answer', () => {
    for (const { path, operation } of operations) {
      // Providers say it in their own words.
      if (path.startsWith('/receipts/') || PAGES.includes(path)) continue
      // The body is a file.
      if (operation.requestBody !== undefined && path !== '/v1/attachments') {
        expect(bodyOf(operation).schema, operation.operationId).toHaveProperty('$ref')
      }
      if (operation.operationId === 'getOpenApi') continue
      const success = operation.responses['200'] ?? operation.responses['201']
      const type = operation.operationId === 'exportPerson' ? 'application/x-ndjson' : 'application/json'
      expect(success, operation.operationId).toHaveProperty(['content', type, 'schema', '$ref'])
    }
  })

  it('asks for a key everywhere but where none is needed, and for orgId under /admin', () => {
    expect(document.security).toEqual([{ apiKey: [] }, { operatorKey: [] }])
    for (const { path, operation } of operations) {
      const parameters = JSON.stringify(operation.parameters)
      const proven = path.startsWith('/receipts/')
      const isPublic = path === '/health' || path === '/openapi.json' || PAGES.includes(path) || proven
      const keys = /^\/v1\/(?:organizations|operations|plans)/.test(path) ? [{ operatorKey: [] }] : undefined
      expect(operation.security).toEqual(isPublic ? [] : keys)
      expect(/Org(?:anization)?Id/.test(parameters)).toBe(
        !isPublic && keys === undefined && path !== '/v1/me',
      )
      expect(operation.responses['401'] === undefined).toBe(isPublic && !proven)
      expect(parameters.includes('RequiredOrgId')).toBe(path.startsWith('/admin/'))
    }
  })

  it('tells a template that a send misses from one that is asked for', () => {
    const codes = (path: string, method: string, status: string): string =>
      JSON.stringify(document.paths[path]?.[method]?.responses[status] ?? null)
    expect(codes('/v1/notify', 'post', '422')).toContain('"template_not_found"')
    expect(codes('/v1/notify', 'post', '404')).toBe('{"$ref":"#/components/responses/NotFound"}')
    expect(codes('/v1/templates/{idOrName}', 'get', '404')).toContain('"template_not_found"')
  })

  it('closes bodies where unknown fields are refused', () => {
    const strict = openApiDocument(ROUTES, SERVICE, { errorFormat: 'nested', strictBody: true })
    expect(strict.components.schemas?.SendRequest).toMatchObject({ additionalProperties: false })
    expect(document.components.schemas?.SendRequest).not.toHaveProperty('additionalProperties')
    expect(strict.components.schemas?.Template).not.toHaveProperty('additionalProperties')
  })

  it('closes the objects inside a body: their unknown fields are always refused', () => {
    const ajv = new Ajv2020({ strict: false, formats: { date: true, 'date-time': true } })
    ajv.addSchema(document, 'api')
    const message = { to: 'ada@example.com', channel: 'email', body: 'Hi', unknown: true }
    const attachment = { filename: 'a.txt', contentType: 'text/plain', content: 'YQ==' }
    for (const [name, body, accepted] of [
      ['SendRequest', { ...message, email: { replyTo: 'b@example.com', attachments: [attachment] } }, true],
      ['SendRequest', { ...message, email: { copies: 'b@example.com' } }, false],
      ['SendRequest', { ...message, email: { attachments: [{ ...attachment, path: '/a' }] } }, false],
      ['SendRequest', { ...message, push: { data: { order: '1' } } }, true],
      ['SendRequest', { ...message, push: { data: { order: '1' }, badges: 1 } }, false],
      ['SendRequest', { ...message, slack: { blocks: [{ type: 'divider' }] } }, true],
      ['SendRequest', { ...message, slack: { attachments: [] } }, false],
      ['OrganizationChange', { tracking: { opens: true }, unknown: true }, true],
      ['OrganizationChange', { tracking: { opens: true, reads: true } }, false],
      ['OrganizationChange', { branding: { color: '#0b5fff', logo: 'x' } }, false],
      ['RetryRequest', { filter: { channel: 'email', unknown: true } }, false],
    ] as const) {
      const schema = {
        SendRequest: SEND_INPUT,
        OrganizationChange: organizationChange,
        RetryRequest: retryInput,
      }[name]
      const validate = ajv.compile({ $ref: `api#/components/schemas/${name}` })
      expect([validate(body), schema.safeParse(body).success], JSON.stringify(body)).toEqual([
        accepted,
        accepted,
      ])
    }
  })

  it('gives examples that its schemas accept', () => {
    const ajv = new Ajv2020({ strict: false, formats: { date: true, 'date-time': true } })
    ajv.addSchema(document, 'api')
    const ids = new Set(operations.map(({ operation }) => operation.operationId))
    const examples = ROUTES.filter(({ example }) => example !== undefined)
    expect(examples.length).toBeGreaterThan(5)
    for (const route of examples) {
      const { operation: name, example: { request, response } = {} } = route
      expect(ids).toContain(name)
      const found = operations.find(({ operation }) => operation.operationId === name)
      const validate = ajv.compile({
        $ref: `api${found === undefined ? '' : bodyOf(found.operation).schema.$ref}`,
      })
      expect(validate(request), ajv.errorsText(validate.errors)).toBe(true)
      expect(route.body?.safeParse(request).error).toBeUndefined()
      if (response !== undefined) expect(route.response.safeParse(response).error).toBeUndefined()
    }
  })
})

/**
 * The items of a batch are validated one by one; the filter of a retry, the parts of a message, the branding and the
 * tracking of an organization, and quiet hours are always strict.
 */
const INSIDE: Readonly<Record<string, string[]>> = {
  sendNotification: ['email', 'sms', 'push', 'slack'],
  sendBatch: ['notifications'],
  explainMessage: ['email', 'sms', 'push', 'slack'],
  createTemplate: ['locales'],
  updateTemplate: ['locales'],
  previewTemplateDraft: ['locales'],
  lintTemplateDraft: ['locales'],
  saveTemplateDraft: ['locales'],
  retryDeadLetters: ['filter'],
  createOrganization: ['retention', 'branding', 'tracking'],
  updateOrganization: ['retention', 'branding', 'tracking'],
  createCategory: ['quietHours'],
  updateCategory: ['quietHours'],
  changePreferences: ['quietHours'],
  replacePreferences: ['quietHours'],
  changeOrganizationPreferences: ['quietHours'],
  replaceOrganizationPreferences: ['quietHours'],
}

it('no body has objects with fields inside objects: strictBody looks at one level', () => {
  for (const { body: own, operation } of ROUTES) {
    if (own === undefined) continue
    const body = own === sendInput ? SEND_INPUT : own
    expect(body, operation).toBeInstanceOf(z.ZodObject)
    const { properties = {} } = z.toJSONSchema(body, { io: 'input', unrepresentable: 'any' })
    const nested = Object.entries(properties).filter(([, field]) =>
      JSON.stringify(field).includes('"properties"'),
    )
    // A batch: its items are validated one by one.
    expect(
      nested.map(([name]) => name),
      operation,
    ).toEqual(INSIDE[operation] ?? [])
  }
})

it("the document has the package's version", () => {
  const manifest = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))
  expect(document.info.version).toBe(manifest.version)
})
