import { dashboard } from 'carillon/dashboard'
import { notifierFetch } from 'carillon/fetch'
import { expect, expectTypeOf, it } from 'vitest'
import { createNotifier } from '../../../src/create-notifier.ts'
import type { MultiTenantNotifier, Notifier } from '../../../src/notifier.ts'
import type { Tenant } from '../../../src/tenant.ts'
import { recordingProvider } from '../../../src/testing/recording-provider.ts'
import { type Heard, mail, notes, noting, startNoting } from './world.ts'

const HOUR = 3_600_000
const heard: Heard = { due: [], fails: false }

it('adds its methods to each organization, and to no other notifier', async () => {
  const { notifier } = await startNoting()
  expect(await notifier.notes.add('a', { text: 'hi', at: null })).toMatchObject({
    id: 'a',
    value: { text: 'hi' },
  })
  expect(await notifier.organization('org_default').notes.find('a')).toMatchObject({ value: { text: 'hi' } })
  expectTypeOf(notifier.notes.find).toEqualTypeOf<
    Awaited<ReturnType<typeof startNoting>>['notifier']['notes']['find']
  >()
  expectTypeOf<Parameters<typeof notifier.notes.change>>().toEqualTypeOf<[id: string, at: number | null]>()
  expectTypeOf<ReturnType<typeof notifier.notes.fail>>().toEqualTypeOf<Promise<never>>()
  const plain = createNotifier({ channels: { email: recordingProvider() } })
  expect('notes' in plain).toBe(false)
  // @ts-expect-error It has no plug-in.
  expect(plain.notes).toBeUndefined()
})

it('leaves the types of a notifier without plug-ins as they are', () => {
  const email = recordingProvider()
  const tenants = createNotifier({ organizations: 'required', channels: { email }, plugins: [] })
  expectTypeOf(tenants.organization('org_a')).toExtend<Pick<Tenant, 'notifications'>>()
  const requiring = createNotifier({
    organizations: 'required',
    channels: { email },
    plugins: [noting(heard)],
  })
  expectTypeOf(requiring.organization('org_a').notes.list).parameter(0).toEqualTypeOf<number>()
  expect(() => (requiring as unknown as { notes: unknown }).notes).toThrow('notifier.organization(id).notes')
  const plain: Notifier = createNotifier({ channels: { email } })
  const all: MultiTenantNotifier = createNotifier({ channels: { email }, plugins: [noting(heard)] })
  expect([plain, all]).toHaveLength(2)
})

it('keeps the records of organizations apart, whatever their ids', async () => {
  const { notifier } = await startNoting()
  await notifier.organizations.create({ id: 'org_a', name: 'A' })
  const [own, other] = [notifier.organization('org_a').notes, notifier.notes]
  await own.add('same', { text: 'A', at: null })
  expect(await other.find('same')).toBeNull()
  expect(await other.remove('same')).toBe(false)
  expect(await other.change('same', 5)).toBe('unknown')
  expect(await other.add('same', { text: 'other', at: null })).toMatchObject({
    organizationId: 'org_default',
  })
  expect(await own.add('same', { text: 'again', at: null })).toBe('taken')
  expect((await own.list(100)).items.map(({ id, value }) => [id, value.text])).toEqual([['same', 'A']])
  expect(await own.remove('same')).toBe(true)
  await expect(
    notifier.organization('org_none').notes.add('x', { text: '', at: null }),
  ).rejects.toMatchObject({
    code: 'not_found',
  })
})

it('hands out what fell due once, and never what was removed or moved before', async () => {
  const { notifier, clock, heard, until } = await startNoting()
  const at = clock.now() + HOUR
  for (const id of ['ran', 'removed', 'moved']) await notifier.notes.add(id, { text: '', at })
  await notifier.notes.remove('removed')
  await notifier.notes.change('moved', at + HOUR)
  await clock.advance(HOUR / 2)
  expect(heard.due).toEqual([])
  await until(() => heard.due.length > 0, HOUR / 10)
  await until(async () => (await notifier.notes.find('ran')) === null)
  expect(heard.due).toEqual(['ran 1'])
  await until(async () => (await notifier.notes.find('moved')) === null, HOUR / 10)
  expect(heard.due).toEqual(['ran 1', 'moved 1'])
})

it('sends in the commit that ends the record, and hands it out again if the message is refused', async () => {
  const { notifier, clock, email, heard, errors, until } = await startNoting()
  await notifier.notes.add('told', { text: 'ada@example.com', at: clock.now() })
  await until(() => email.messages.length === 1)
  expect(await notifier.notes.find('told')).toBeNull()
  await notifier.suppressions.add({ channel: 'email', to: 'bob@example.com' })
  await notifier.notes.add('kept', { text: 'bob@example.com', at: clock.now() })
  await until(() => heard.due.includes('kept 2'), 10_000)
  expect(await notifier.notes.find('kept')).not.toBeNull()
  expect(errors[0]?.message).toContain('suppressed by hand')
  await notifier.suppressions.remove({ channel: 'email', to: 'bob@example.com' })
  await until(async () => (await notifier.notes.find('kept')) === null, 60_000)
})

it('hands a record out again after an error of the handler, and counts', async () => {
  const { notifier, clock, heard, errors, until } = await startNoting()
  heard.fails = true
  await notifier.notes.add('a', { text: '', at: clock.now() })
  await until(() => heard.due.length === 3, 30_000)
  expect(heard.due).toEqual(['a 1', 'a 2', 'a 3'])
  expect(errors[0]?.message).toContain('not now')
  heard.fails = false
  await until(async () => (await notifier.notes.find('a')) === null, 60_000)
})

it('stores messages and records together, or neither', async () => {
  const { notifier, email, until } = await startNoting()
  await notifier.notes.tell('a', 'ada@example.com')
  await until(() => email.messages.length === 1)
  expect(await notifier.notes.find('a')).not.toBeNull()
  await expect(notifier.notes.tell('b', 'nobody')).rejects.toMatchObject({ code: 'invalid_email' })
  expect(await notifier.notes.find('b')).toBeNull()
  expect((await notifier.notes.send('ada@example.com')).status).toBe('queued')
})

it('stores nothing beside a record whose id is taken, and replaces one that it removes', async () => {
  const { notifier, email, until } = await startNoting()
  const [id = ''] = await notifier.notes.tell('a', 'ada@example.com')
  expect((await notifier.notifications.get(id)).to).toBe('ada@example.com')
  expect(await notifier.notes.tell('a', 'bob@example.com')).toBe('taken')
  const [kind, value] = [notes, { text: 'new', at: null }]
  await notifier.notes.store({ removes: [{ kind, id: 'a' }], inserts: [{ kind, id: 'a', value }] })
  expect((await notifier.notes.find('a'))?.value.text).toBe('new')
  await until(() => email.messages.length === 1)
  expect(email.messages.map(({ to }) => to)).toEqual(['ada@example.com'])
})

it('reaches no records of others, and takes no unknown member', async () => {
  const { notifier } = await startNoting()
  const kind = { name: 'templates', version: 1, concerns: () => null }
  await expect(notifier.notes.store({ inserts: [{ kind, id: 'a', value: {} }] })).rejects.toThrow(
    'not in its "records"',
  )
  await expect(notifier.notes.store({ removes: [{ kind, id: 'a' }] })).rejects.toThrow('not in its "records"')
  await expect(notifier.notes.store({ insert: [] } as never)).rejects.toThrow('"insert" is unknown here')
})

it('finds a timer in time that a commit with messages has stored, however rarely it polls', async () => {
  const { notifier, clock, heard } = await startNoting(undefined, 24 * HOUR)
  const value = { text: '', at: clock.now() + HOUR }
  await notifier.notes.store({ inserts: [{ kind: notes, id: 'a', value }] })
  for (let step = 0; step < 7; step += 1) {
    await clock.advance(HOUR / 6)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
  expect(heard.due).toEqual(['a 1'])
})

it('backs off from a handler that gives a time in the past, or an unknown member', async () => {
  const { notifier, clock, heard, errors, until } = await startNoting()
  await notifier.notes.add('a', { text: 'again', at: clock.now() })
  await until(() => heard.due.length === 2, 30_000)
  expect(heard.due).toEqual(['a 1', 'a 2'])
  expect(errors[0]?.message).toContain('Its time is in the past.')
  await notifier.notes.remove('a')
  await notifier.notes.add('b', { text: 'mistyped', at: clock.now() })
  await until(() => errors.some(({ message }) => message.includes('"send" is unknown here')), 1_000)
  expect(await notifier.notes.find('b')).not.toBeNull()
})

it('cancels what it has sent', async () => {
  const { notifier, clock } = await startNoting()
  const { id } = await notifier.send({ ...mail('ada@example.com'), sendAt: new Date(clock.now() + HOUR) })
  await notifier.notes.stop(id)
  expect((await notifier.notifications.get(id)).status).toBe('cancelled')
})

it('turns an exception into an error of the service, with its cause', async () => {
  const { notifier } = await startNoting()
  await expect(notifier.notes.fail()).rejects.toMatchObject({
    code: 'service_unavailable',
    message: expect.stringContaining('plug-in "notes"'),
    cause: expect.objectContaining({ message: 'broken' }),
  })
})

it('refuses records that are too large, or due in a thousand years', async () => {
  const { notifier, clock, heard, until } = await startNoting()
  const add = (value: object) => notifier.notes.add('a', value as never)
  await expect(add({ text: 'x'.repeat(70_000), at: null })).rejects.toMatchObject({
    code: 'invalid_parameter',
  })
  await expect(add({ text: '', at: clock.now() + 1_000 * 366 * 24 * HOUR })).rejects.toThrow(
    'within ten years',
  )
  await expect(add({ text: '', at: Number.NaN })).rejects.toThrow('a whole number')
  await expect(notifier.notes.add('', { text: '', at: null })).rejects.toThrow('1 to 120 characters')
  await add({ text: '', at: 1 })
  await until(() => heard.due.length === 1)
})

it('keeps its errors, and names itself in the others', async () => {
  const { notifier } = await startNoting()
  await expect(notifier.notes.close()).rejects.toMatchObject({
    code: 'notes.closed',
    status: 423,
    message: 'The shop is closed. Come back tomorrow.',
    details: { until: 'tomorrow' },
    retryable: false,
  })
  await notifier.stop()
  await expect(notifier.notes.find('a')).rejects.toMatchObject({ code: 'service_unavailable' })
})

it('serves its routes with keys, permissions, schemas and OpenAPI', async () => {
  const { notifier } = await startNoting()
  const writer = await notifier.apiKeys.create({ name: 'w', permission: 'Write' })
  const reader = await notifier.apiKeys.create({ name: 'r', permission: 'Read Only' })
  const handle = notifierFetch(notifier)
  async function call(key: string | null, path: string, body?: object, more: Record<string, string> = {}) {
    const request = new Request(`https://localhost${path}`, {
      method: body === undefined ? 'GET' : 'POST',
      headers: {
        'content-type': 'application/json',
        ...more,
        ...(key === null ? {} : { authorization: `Bearer ${key}` }),
      },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const response = await handle(request, { remoteAddress: '203.0.113.1', encrypted: true })
    return { status: response?.status, body: await response?.json() }
  }
  expect((await call(writer.secret, '/v1/notes/n1', { text: 'hi' })).status).toBe(201)
  expect(await notifier.notes.find('n1')).toMatchObject({ value: { text: 'hi' } })
  await call(writer.secret, '/v1/notes/n2', { text: 'hi' }, { 'idempotency-key': 'key' })
  expect((await notifier.notes.find('n2'))?.value.text).toBe('key')
  const tested = await call(writer.secret, '/v1/notes/n3', { text: 'hi' }, { 'x-test-mode': 'true' })
  expect(tested.status).toBe(400)
  expect(await notifier.notes.find('n3')).toBeNull()
  expect((await call(null, '/v1/notes/n1', { text: 'hi' })).status).toBe(401)
  expect((await call(reader.secret, '/v1/notes/n1', { text: 'hi' })).status).toBe(403)
  const wrong = await call(writer.secret, '/v1/notes/n1', { text: 5 })
  expect([wrong.status, JSON.stringify(wrong.body)]).toEqual([400, expect.stringContaining('"field":"text"')])
  const closed = await call(writer.secret, '/v1/notes/n1?closed=true', { text: 'hi' })
  expect(closed.status).toBe(423)
  expect(closed.body).toMatchObject({
    error: { code: 'notes.closed', message: 'The shop is closed. Come back tomorrow.' },
  })
  const { body } = await call(null, '/openapi.json')
  const document = body as {
    paths: Record<string, Record<string, object>>
    tags: readonly { name: string }[]
  }
  expect(document.paths['/v1/notes/{id}']?.post).toMatchObject({
    operationId: 'addNote',
    tags: ['notes'],
    responses: { 423: { description: '- `notes.closed`: The shop is closed.' } },
  })
  expect(document.tags.map(({ name }) => name)).toContain('notes')
})

it('serves its routes to the pages of the dashboard, with their permissions', async () => {
  const { notifier } = await startNoting()
  const pages = dashboard(notifier, {
    authorize: (request: Request) => ({
      actor: 'Ada',
      permission: request.headers.has('x-full') ? 'Full Access' : 'Read Only',
      organizations: ['org_default'],
    }),
  })
  const handle = notifierFetch(pages)
  const add = async (headers: Record<string, string>) => {
    const request = new Request('https://localhost/api/v1/notes/n1', {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'sec-fetch-site': 'same-origin', ...headers },
      body: JSON.stringify({ text: 'hi' }),
    })
    return (await handle(request, { remoteAddress: '203.0.113.1', encrypted: true }))?.status
  }
  expect([await add({}), await add({ 'x-full': '1' })]).toEqual([403, 201])
})

it('sends as the application does', async () => {
  const { notifier } = await startNoting()
  expect((await notifier.send(mail('ada@example.com'))).status).toBe('queued')
})
