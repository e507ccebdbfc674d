import type { JsonObject } from './types.ts'

/** Examples of an operation. */
interface Example {
  readonly request?: JsonObject
  readonly response?: JsonObject
}

const id = 'notif_1795262400000041331242462190785316'
const createdAt = '2026-11-21T12:00:00.000Z'
const template = {
  name: 'welcome-email',
  channel: 'email',
  subject: 'Welcome, {{name}}',
  html: '<p>Hello {{name}}!</p>',
  text: 'Hello {{name}}!',
}
const key = {
  id: 'key_3fJ0kT9sLrZyQw2XbVn8aA',
  organizationId: 'org_default',
  name: 'billing',
  permission: 'Write',
  grants: [],
  hint: 'crl_abcd…wxyz',
  expiresAt: null,
  allowedIps: [],
  createdAt,
  lastUsedAt: null,
  replacedBy: null,
}

/** Examples by operation. A test validates each against its schema. */
export const EXAMPLES: Readonly<Record<string, Example>> = {
  sendNotification: {
    request: {
      channel: 'email',
      to: 'ada@example.com',
      template: 'welcome-email',
      variables: { name: 'Ada' },
      email: {
        replyTo: 'help@example.com',
        attachments: [{ filename: 'terms.txt', contentType: 'text/plain', content: 'SGVsbG8K' }],
      },
    },
    response: { id, status: 'queued', channel: 'email', to: 'ada@example.com', createdAt },
  },
  sendBatch: {
    request: {
      notifications: [
        { to: 'ada@example.com', template: 'welcome-email', variables: { name: 'Ada' } },
        { channel: 'email', to: 'nobody', body: 'Hello!' },
      ],
    },
    response: {
      accepted: 1,
      rejected: 1,
      items: [
        { index: 0, id, status: 'queued' },
        {
          index: 1,
          error: { code: 'invalid_email', message: 'The recipient is not a valid e-mail address.' },
        },
      ],
      createdAt,
    },
  },
  createTemplate: {
    request: template,
    response: {
      id: 'tpl_Zt6vQ1mYb0cWn4RkXe7uHg',
      ...template,
      body: null,
      layout: null,
      locale: null,
      locales: {},
      description: null,
      metadata: null,
      category: null,
      version: 1,
      createdAt,
      updatedAt: createdAt,
    },
  },
  createApiKey: {
    request: { name: 'billing', permission: 'Write' },
    response: { ...key, secret: 'crl_…' },
  },
  createOrganization: {
    request: {
      id: 'org_acme',
      name: 'Acme',
      plan: 'starter',
      branding: { logoUrl: 'https://cdn.acme.example/logo.png', color: '#0b5fff' },
    },
    response: {
      id: 'org_acme',
      name: 'Acme',
      plan: 'starter',
      smsCountries: null,
      senders: null,
      retentionDays: null,
      locale: null,
      timeZone: null,
      branding: { name: null, logoUrl: 'https://cdn.acme.example/logo.png', color: '#0b5fff' },
      tracking: { opens: false, clicks: false },
      createdAt,
      deleting: false,
    },
  },
  createWebhook: {
    request: { url: 'https://example.com/hooks', events: ['notification.delivered', 'notification.failed'] },
  },
}
