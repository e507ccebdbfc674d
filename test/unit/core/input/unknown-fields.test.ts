import { describe, expect, it, onTestFinished } from 'vitest'
import type { ZodObject } from 'zod'
import type { AllOrganizations } from '../../../../src/all-organizations.ts'
import { emailParts } from '../../../../src/core/channels/email-parts.ts'
import { perMinutePlans } from '../../../../src/core/tenancy/plans.ts'
import { createNotifier } from '../../../../src/create-notifier.ts'
import type { EventListening } from '../../../../src/features/webhook-events/api.ts'
import type { Notifier } from '../../../../src/notifier.ts'
import type { NotifierOptions } from '../../../../src/options.ts'
import type { Tenant } from '../../../../src/tenant.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'

const mail = { channel: 'email', to: 'ada@example.com', body: 'Hello' } as const
const SLIP = { slip: 1 }

type Call = (notifier: Notifier, slip: object) => unknown
/** How a method takes objects with fields: each of its arguments that has some. */
type Calls<Methods> = {
  readonly [Name in keyof Methods]: Methods[Name] extends (...given: never) => unknown
    ? readonly Call[]
    : never
}
type Groups = {
  readonly [Name in Exclude<keyof Notifier, '~parts' | 'allOrganizations'> as Notifier[Name] extends (
    ...given: never
  ) => unknown
    ? never
    : Name]: Calls<Notifier[Name]>
}
type Alone = {
  readonly [Name in keyof Notifier as Notifier[Name] extends (...given: never) => unknown
    ? Name
    : never]: readonly Call[]
}

/** A method of the public interface that is missing here does not compile. */
const alone: Alone = {
  start: [(n, slip) => n.start(slip)],
  stop: [(n, slip) => n.stop(slip)],
  [Symbol.asyncDispose]: [],
  on: [],
  once: [],
  off: [],
  waitFor: [(n, slip) => n.waitFor('notif_1', slip)],
  organization: [],
  actingAs: [],
  send: [(n, slip) => n.send({ ...mail, ...slip }), (n, slip) => n.send(mail, slip)],
  validate: [(n, slip) => n.validate({ ...mail, ...slip }), (n, slip) => n.validate(mail, slip)],
  sendBatch: [(n, slip) => n.sendBatch([mail], slip)],
  explain: [(n, slip) => n.explain(mail, slip)],
  maintenance: [],
  metrics: [],
  health: [],
}

const grouped: Groups = {
  notifications: {
    get: [(n, slip) => n.notifications.get('notif_1', slip)],
    list: [(n, slip) => n.notifications.list(slip)],
    webhookDeliveries: [],
    cancel: [],
    reschedule: [(n, slip) => n.notifications.reschedule('notif_1', { sendAt: null, ...slip })],
    resend: [(n, slip) => n.notifications.resend('notif_1', slip)],
    retry: [],
    explain: [],
  },
  deadLetters: {
    list: [(n, slip) => n.deadLetters.list(slip)],
    groups: [(n, slip) => n.deadLetters.groups(slip)],
    retry: [
      (n, slip) => n.deadLetters.retry({ filter: {}, ...slip }),
      (n, slip) => n.deadLetters.retry({ filter: slip }),
    ],
  },
  refusals: { list: [(n, slip) => n.refusals.list(slip)] },
  attachments: {
    upload: [
      (n, slip) => n.attachments.upload('YQ==', { filename: 'a', contentType: 'text/plain', ...slip }),
    ],
    delete: [],
  },
  templates: {
    create: [(n, slip) => n.templates.create({ name: 'a', channel: 'sms', body: 'a', ...slip })],
    get: [],
    list: [(n, slip) => n.templates.list(slip)],
    update: [(n, slip) => n.templates.update('tpl_1', slip)],
    versions: [(n, slip) => n.templates.versions('tpl_1', slip)],
    version: [],
    restore: [],
    preview: [(n, slip) => n.templates.preview('tpl_1', {}, slip)],
    lint: [(n, slip) => n.templates.lint('tpl_1', slip)],
    lintDraft: [(n, slip) => n.templates.lintDraft({ channel: 'sms', body: 'a', ...slip })],
    missing: [(n, slip) => n.templates.missing(slip)],
    compare: [],
    draft: [],
    saveDraft: [(n, slip) => n.templates.saveDraft('tpl_1', slip)],
    publish: [(n, slip) => n.templates.publish('tpl_1', slip)],
    discardDraft: [],
    previewDraft: [(n, slip) => n.templates.previewDraft({ channel: 'sms', body: 'a', ...slip })],
    delete: [],
  },
  messages: {
    put: [(n, slip) => n.messages.put('de', {}, slip)],
    get: [],
    list: [],
    delete: [],
  },
  layouts: {
    create: [(n, slip) => n.layouts.create({ name: 'a', text: '{{content}}', ...slip })],
    get: [],
    list: [(n, slip) => n.layouts.list(slip)],
    update: [(n, slip) => n.layouts.update('lay_1', slip)],
    versions: [(n, slip) => n.layouts.versions('lay_1', slip)],
    version: [],
    restore: [],
    delete: [],
  },
  partials: {
    create: [(n, slip) => n.partials.create({ name: 'a', text: 'a', ...slip })],
    get: [],
    list: [(n, slip) => n.partials.list(slip)],
    update: [(n, slip) => n.partials.update('part_1', slip)],
    versions: [(n, slip) => n.partials.versions('part_1', slip)],
    version: [],
    restore: [],
    delete: [],
  },
  organizations: {
    create: [
      (n, slip) => n.organizations.create({ name: 'A', ...slip }),
      (n, slip) => n.organizations.create({ name: 'A', tracking: slip }),
    ],
    get: [],
    list: [(n, slip) => n.organizations.list(slip)],
    update: [(n, slip) => n.organizations.update('org_default', { name: 'A', ...slip })],
    delete: [(n, slip) => n.organizations.delete('org_a', slip)],
    plans: [],
  },
  apiKeys: {
    create: [(n, slip) => n.apiKeys.create({ name: 'a', permission: 'Write', ...slip })],
    get: [],
    list: [(n, slip) => n.apiKeys.list(slip)],
    rotate: [(n, slip) => n.apiKeys.rotate('key_1', slip)],
    delete: [],
    verify: [],
  },
  operatorKeys: {
    create: [(n, slip) => n.operatorKeys.create({ name: 'a', permission: 'Write', ...slip })],
    list: [(n, slip) => n.operatorKeys.list(slip)],
    rotate: [(n, slip) => n.operatorKeys.rotate('key_1', slip)],
    delete: [],
    verify: [],
  },
  webhooks: {
    create: [(n, slip) => n.webhooks.create({ url: 'https://example.com/', ...slip })],
    get: [],
    list: [(n, slip) => n.webhooks.list(slip)],
    update: [(n, slip) => n.webhooks.update('wh_1', slip)],
    rotateSecret: [(n, slip) => n.webhooks.rotateSecret('wh_1', slip)],
    test: [],
    deliveries: [(n, slip) => n.webhooks.deliveries('wh_1', slip)],
    redeliver: [(n, slip) => n.webhooks.redeliver('wh_1', { since: new Date(), ...slip })],
    redeliverOne: [],
    delete: [],
  },
  suppressions: {
    add: [(n, slip) => n.suppressions.add({ channel: 'email', to: mail.to, ...slip })],
    list: [(n, slip) => n.suppressions.list(slip)],
    remove: [(n, slip) => n.suppressions.remove({ channel: 'email', to: mail.to, ...slip })],
  },
  categories: {
    create: [(n, slip) => n.categories.create({ id: 'a', name: 'A', ...slip })],
    get: [],
    list: [],
    update: [(n, slip) => n.categories.update('a', slip)],
    delete: [],
  },
  preferences: {
    get: [(n, slip) => n.preferences.get({ recipient: 'a', ...slip })],
    change: [
      (n, slip) => n.preferences.change({ recipient: 'a', ...slip }, {}),
      (n, slip) => n.preferences.change({ recipient: 'a' }, slip),
    ],
    replace: [
      (n, slip) => n.preferences.replace({ recipient: 'a', ...slip }, {}),
      (n, slip) => n.preferences.replace({ recipient: 'a' }, slip),
    ],
  },
  statistics: { get: [(n, slip) => n.statistics.get(slip)] },
  retention: { preview: [] },
  logs: { list: [(n, slip) => n.logs.list(slip)] },
  auditLog: { list: [(n, slip) => n.auditLog.list(slip)] },
  people: {
    erase: [
      (n, slip) => n.people.erase({ recipient: 'a', ...slip }),
      (n, slip) => n.people.erase({ recipient: 'a' }, slip),
    ],
    getErasure: [],
    listErasures: [(n, slip) => n.people.listErasures(slip)],
    export: [(n, slip) => n.people.export({ recipient: 'a', ...slip })],
  },
  limits: { get: [] },
  internals: { version: undefined as never },
}

const ofAll: {
  readonly [Name in Exclude<keyof AllOrganizations, keyof EventListening>]: Calls<AllOrganizations[Name]>
} & { readonly listening: Calls<EventListening> } = {
  notifications: { list: [(n, slip) => n.allOrganizations.notifications.list(slip)] },
  deadLetters: {
    list: [(n, slip) => n.allOrganizations.deadLetters.list(slip)],
    groups: [(n, slip) => n.allOrganizations.deadLetters.groups(slip)],
  },
  statistics: { get: [(n, slip) => n.allOrganizations.statistics.get(slip)] },
  retention: { preview: [] },
  logs: { list: [(n, slip) => n.allOrganizations.logs.list(slip)] },
  auditLog: { list: [(n, slip) => n.allOrganizations.auditLog.list(slip)] },
  people: {
    ...grouped.people,
    listErasures: [(n, slip) => n.allOrganizations.people.listErasures(slip)],
  },
  webhooks: {
    ...grouped.webhooks,
    list: [(n, slip) => n.allOrganizations.webhooks.list(slip)],
  },
  listening: {
    listen: [(n, slip) => n.allOrganizations.listen('mirror', () => {}, slip)],
    forget: [],
  },
}

const calls: readonly Call[] = [alone, ...Object.values(grouped), ...Object.values(ofAll)]
  .flatMap((group) => Object.values<readonly Call[] | undefined>(group))
  .flatMap((list) => list ?? [])

async function start(options: Partial<NotifierOptions> = {}): Promise<Notifier> {
  const notifier = createNotifier({ channels: { email: recordingProvider() }, ...options })
  await notifier.start({ deliver: false })
  onTestFinished(() => notifier.stop())
  return notifier
}

describe('a field that nobody knows is refused by its name', () => {
  it.each(calls.map((call) => [String(call), call] as const))('%s', async (_text, call) => {
    const notifier = await start()
    const error = await Promise.resolve()
      .then(() => call(notifier, SLIP))
      .then(
        () => null,
        (thrown: Error) => thrown,
      )
    expect(error).toMatchObject({ code: expect.stringMatching(/^invalid_(?:parameter|configuration)$/) })
    expect(error?.message).toContain('slip')
  })

  it('in each message of a batch', async () => {
    const { items } = await (await start()).sendBatch([{ ...mail, ...SLIP }, mail])
    expect(items).toMatchObject([{ error: { details: { field: 'slip' } } }, { status: 'queued' }])
  })

  const { free } = perMinutePlans
  it.each<[string, object]>([
    ['plans.free.notificationsPerMinute', { plans: { free: { ...free, notificationsPerMinute: 5 } } }],
    [
      'plans.free.requests.burst',
      { plans: { free: { ...free, requests: { limit: 1, windowMs: 1, burst: 2 } } } },
    ],
    ['overuse.after', { overuse: { factor: 5, windowMs: 1, restrictMs: 1, after: 1 } }],
    ['channels.email.maxPerMinute', { channels: { email: { ...recordingProvider(), maxPerMinute: 5 } } }],
    ['channels.email.rateLimit', { channels: { email: { ...recordingProvider(), rateLimit: 5 } } }],
    ['channels.email.retries', { channels: { email: { ...recordingProvider(), retries: 5 } } }],
    [
      'channels.email.maxPerMinute',
      { channels: { email: { providers: [recordingProvider()], maxPerMinute: 5 } } },
    ],
    [
      'channels.email.retry.maxDelayMs',
      {
        channels: {
          email: {
            ...recordingProvider(),
            retry: { kind: 'exponential', maxAttempts: 1, baseMs: 1, capMs: 1, maxDelayMs: 1 },
          },
        },
      },
    ],
  ])('%s', async (option, options) => {
    await expect(start(options)).rejects.toMatchObject({ code: 'invalid_configuration', details: { option } })
  })
})

describe('options that do not fit say which do', () => {
  const SEND = 'its fields are "idempotencyKey", "strict", "tx"'
  it.each<readonly [Call, string]>([
    [(n) => n.send(mail, 'order-1' as never), `"options": must be an object; ${SEND}.`],
    [
      (n) => n.send(mail, { idempotency_key: 'a' } as never),
      `"options": has no field "idempotency_key" (did you mean "idempotencyKey"?); ${SEND}.`,
    ],
    [(n) => n.send(mail, { key: 'a' } as never), `"options": has no field "key"; ${SEND}.`],
    [
      (n) => n.logs.list({ state: 'sent' } as never),
      'has no field "state" (did you mean "status"?); its fields',
    ],
  ])('%s', async (call, message) => {
    const notifier = await start()
    await expect(Promise.resolve(call(notifier, {}))).rejects.toThrow(message)
  })
})

describe('a field of a message that belongs elsewhere', () => {
  it.each([
    ['idempotencyKey', 'second argument'],
    ['from', 'in "email"'],
    ['cc', 'in "email"'],
    ['replyTo', 'in "email"'],
    ['tags', `use "metadata", short texts by name: { campaign: 'spring' }`],
    ['organizationId', 'notifier.organization(id)'],
    ['message', '"text", "html" or "body"'],
    ['content', '"text", "html" or "body"'],
    ['title', 'it is "subject"'],
    ['scheduledAt', 'it is "sendAt"'],
    ['delay', 'use "sendAt"'],
  ])('%s is refused with its place', async (field, place) => {
    const message = { ...mail, [field]: field === 'organizationId' ? 'org_default' : 'x' }
    const expected = {
      code: 'invalid_parameter',
      message: expect.stringContaining(place),
      details: { field },
    }
    await expect((await start()).send(message)).rejects.toMatchObject(expected)
  })

  it('is any field of "email", also where other unknown fields are ignored', async () => {
    const notifier = await start()
    const names = Object.keys((emailParts as unknown as ZodObject).shape)
    expect(names).toContain('inReplyTo')
    for (const name of names)
      await expect(
        notifier.send({ ...mail, [name]: 'x' } as never, { strict: false }),
        name,
      ).rejects.toMatchObject({ details: { field: name }, message: expect.stringContaining('in "email"') })
  })

  it('is refused where other unknown fields are ignored', async () => {
    const notifier = await start()
    await notifier.send({ ...mail, ...SLIP }, { strict: false })
    await expect(
      notifier.send({ ...mail, idempotencyKey: 'a' } as never, { strict: false }),
    ).rejects.toMatchObject({
      details: { field: 'idempotencyKey' },
    })
  })
})

describe('an organization that does not exist', () => {
  it.each<readonly [string, (tenant: Tenant) => Promise<unknown>]>([
    ['notifications.list', (t) => t.notifications.list()],
    ['logs.list', (t) => t.logs.list()],
    ['deadLetters.list', (t) => t.deadLetters.list()],
    ['refusals.list', (t) => t.refusals.list()],
    ['deadLetters.retry', (t) => t.deadLetters.retry({ filter: {} })],
    ['templates.list', (t) => t.templates.list()],
    ['apiKeys.list', (t) => t.apiKeys.list()],
    ['webhooks.list', (t) => t.webhooks.list()],
    ['suppressions.list', (t) => t.suppressions.list()],
    ['suppressions.remove', (t) => t.suppressions.remove({ channel: 'email', to: mail.to })],
    ['limits.get', (t) => t.limits.get()],
    ['send', (t) => t.send(mail)],
  ])('is refused by %s', async (_name, call) => {
    await expect(call((await start()).organization('org_nobody'))).rejects.toMatchObject({
      code: 'not_found',
      details: { field: 'organizationId' },
    })
  })
})
