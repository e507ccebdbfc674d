import { NotifierError } from 'carillon'
import { deny, go, type PluginJudge, type PluginVerdict, skip, wait } from 'carillon/plugin-kit'
import { expect, it } from 'vitest'
import { mail, notes, startNoting } from './world.ts'

const ADA = 'ada@example.com'

/** A judge that says this of messages to Ada. */
const saying =
  (verdict: () => PluginVerdict): PluginJudge =>
  (messages) =>
    messages.map(({ to }) => (to === ADA ? verdict() : go))

it('refuses, skips and delays with its reasons', async () => {
  let verdict: PluginVerdict = go
  const { notifier, clock, until } = await startNoting(saying(() => verdict))
  expect((await notifier.send(mail(ADA))).status).toBe('queued')
  verdict = deny(new NotifierError('notes.closed', { status: 423, message: 'Closed.' }))
  await expect(notifier.send(mail(ADA))).rejects.toMatchObject({ code: 'notes.closed', status: 423 })
  const { items } = await notifier.sendBatch([mail(ADA), mail('bob@example.com')])
  expect(items.map((item) => ('error' in item ? item.error.code : item.status))).toEqual([
    'notes.closed',
    'queued',
  ])
  verdict = skip('muted', 'Not wanted.')
  const skipped = await notifier.send(mail(ADA))
  await until(async () => (await notifier.notifications.get(skipped.id)).status === 'skipped')
  expect((await notifier.notifications.get(skipped.id)).error).toEqual({
    code: 'opted_out',
    message: 'Not wanted.',
    decidedBy: 'notes.muted',
  })
  verdict = wait(clock.now() + 3_600_000, 'Ada sleeps.')
  const delayed = await notifier.send(mail(ADA))
  expect((await notifier.notifications.get(delayed.id)).waiting).toEqual({
    reason: 'delayed',
    until: new Date(clock.now() + 3_600_000).toISOString(),
    code: null,
    message: 'Ada sleeps.',
  })
  verdict = go
  await until(async () => (await notifier.notifications.get(delayed.id)).status === 'sent', 600_000)
})

it('is asked for the time of a scheduled message, and again when it is due', async () => {
  const asked: number[] = []
  const { notifier, clock, until } = await startNoting((messages) => {
    asked.push(...messages.map(({ at }) => at))
    return messages.map(() => go)
  })
  const began = clock.now()
  const { id } = await notifier.send({ ...mail(ADA), sendAt: new Date(began + 60_000) })
  await notifier.send(mail(ADA))
  expect(asked.slice(0, 2)).toEqual([began + 60_000, began])
  await until(async () => (await notifier.notifications.get(id)).status === 'sent', 120_000)
  expect(asked.at(-1)).toBeGreaterThanOrEqual(began + 60_000)
})

it('reads its records by organization', async () => {
  const { notifier } = await startNoting(async (messages, reads) => {
    const found = await reads.find(
      notes,
      messages.map(({ organizationId, to }) => ({ organizationId, id: to })),
    )
    return found.map((note) => (note === null ? go : skip('noted', note.value.text)))
  })
  await notifier.organizations.create({ id: 'org_a', name: 'A' })
  await notifier.organization('org_a').notes.add(ADA, { text: 'Noted.', at: null })
  const [own, other] = await Promise.all([
    notifier.organization('org_a').send(mail(ADA)),
    notifier.send(mail(ADA)),
  ])
  expect((await notifier.organization('org_a').waitFor(own.id)).status).toBe('skipped')
  expect((await notifier.waitFor(other.id)).status).toBe('sent')
})

const FAULTS: Readonly<Record<string, PluginJudge>> = {
  'throws at once': () => {
    throw new Error('broken')
  },
  rejects: async () => Promise.reject(new Error('broken')),
  hangs: () => new Promise<never>(() => {}),
  'answers too few': () => [],
  'answers no list': () => 'go' as never,
  'answers no verdict': (messages) => messages.map(() => true as never),
  'skips without a reason': (messages) => messages.map(() => skip('', 'Why?')),
  'skips without words': (messages) => messages.map(() => skip('muted', undefined as never)),
  'refuses without an error': (messages) => messages.map(() => deny(new Error('no') as never)),
  'waits for ever': (messages) => messages.map(() => wait(Number.POSITIVE_INFINITY, 'For ever.')),
}

it.each(Object.entries(FAULTS))(
  'a judge that %s refuses sends as unavailable, and lets others wait',
  async (_name, faulty) => {
    let judge: PluginJudge = (messages) => messages.map(() => go)
    const { notifier, clock, email, errors, until } = await startNoting((...given) => judge(...given))
    const scheduled = await notifier.send({ ...mail(ADA), sendAt: new Date(clock.now() + 60_000) })
    judge = faulty
    const refused = notifier.send(mail(ADA)).then(
      () => 'accepted',
      (error: NotifierError) => error,
    )
    let answer: unknown
    void refused.then((given) => (answer = given))
    await until(() => answer !== undefined)
    expect(answer).toMatchObject({
      code: 'service_unavailable',
      status: 503,
      message: expect.stringContaining('"notes"'),
    })
    await until(async () => (await notifier.notifications.get(scheduled.id)).timeline.length > 1, 5_000)
    const waiting = await notifier.notifications.get(scheduled.id)
    expect(waiting.timeline.at(-1)).toMatchObject({
      event: 'attempt_failed',
      error: { code: 'service_unavailable' },
    })
    expect(email.messages).toEqual([])
    expect(errors.length).toBeGreaterThan(0)
    judge = (messages) => messages.map(() => go)
    await until(() => email.messages.length === 1, 20_000)
  },
)
