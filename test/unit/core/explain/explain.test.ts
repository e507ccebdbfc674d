import { definePlugin, go, skip, wait } from 'carillon/plugin-kit'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { Explanation } from '../../../../src/core/explain/model.ts'
import { createNotifier } from '../../../../src/create-notifier.ts'
import { fakeClock } from '../../../../src/testing/fake-clock.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'

const HOUR = 3_600_000
const mail = (to: string) => ({ channel: 'email', to, subject: 'Hi', body: 'Hello' }) as const

async function start() {
  const clock = fakeClock()
  const answers: ('accepted' | 'retry')[] = []
  const questions: string[][] = []
  const email = recordingProvider({
    send: async () =>
      answers.shift() === 'retry'
        ? { kind: 'retry', code: 'provider_unavailable', scope: 'message', message: 'Busy.' }
        : { kind: 'accepted' },
  })
  const sleeping = definePlugin({
    name: 'sleep',
    setup: () => ({
      api: {},
      judge(messages) {
        questions.push(messages.map(({ to }) => to))
        return messages.map(({ to, at }) => {
          if (to.startsWith('late')) return wait(at + HOUR, 'They sleep.')
          if (to.startsWith('broken')) throw new Error('no answer')
          return to.startsWith('away') ? skip('away', 'They are away.') : go
        })
      },
    }),
  })
  const notifier = createNotifier({
    clock,
    channels: { email },
    delivery: { pollMs: 60_000 },
    plugins: [sleeping],
    recipients: {
      resolve: () => ({
        bob: { channels: {} },
        ada: { channels: { email: ['ada@example.com', 'late@example.com'] } },
      }),
    },
  })
  await notifier.start()
  onTestFinished(() => notifier.stop())
  const ended = async (id: string) => {
    for (let step = 0; step < 200; step += 1) {
      const { status } = await notifier.notifications.get(id)
      if (status !== 'queued' && status !== 'scheduled') return
      await clock.advance(1_000)
    }
  }
  return { notifier, clock, answers, questions, ended }
}

const brief = ({ gates }: Explanation) => gates.map(({ gate, result, basis }) => `${gate} ${result} ${basis}`)
const of = (explanation: Explanation | undefined, gate: string) =>
  explanation?.gates.find((each) => each.gate === gate)

describe('an explanation of a message that is not sent', () => {
  it('asks every gate, and stores nothing', async () => {
    const { notifier, clock } = await start()
    const [all, ...others] = await notifier.explain(mail('ada@example.com'))
    expect(others).toEqual([])
    expect(all && brief(all)).toEqual(
      ['message', 'limits', 'regions', 'suppressions', 'preferences', 'sleep', 'providers'].map(
        (gate) => `${gate} passed now`,
      ),
    )
    expect(all).toMatchObject({
      id: null,
      status: null,
      channel: 'email',
      to: 'ada@example.com',
      decidedBy: null,
    })
    const [late] = await notifier.explain({
      ...mail('late@example.com'),
      sendAt: new Date(clock.now() + 2 * HOUR),
    })
    expect(late?.decidedBy).toBe('sleep')
    expect(of(late, 'sleep')).toMatchObject({
      result: 'waits',
      until: new Date(clock.now() + 3 * HOUR).toISOString(),
      message: 'They sleep.',
    })
    expect(of(late, 'schedule')).toMatchObject({
      result: 'waits',
      until: new Date(clock.now() + 2 * HOUR).toISOString(),
    })
    expect((await notifier.notifications.list()).items).toEqual([])
  })

  it('tells what refuses and skips it, and of each address of a person', async () => {
    const { notifier, questions } = await start()
    await notifier.suppressions.add({ channel: 'email', to: 'away@example.com' })
    const [away] = await notifier.explain(mail('away@example.com'))
    expect(away?.decidedBy).toBe('suppressions')
    expect(of(away, 'suppressions')).toMatchObject({ result: 'refused', code: 'blocked_recipient' })
    expect(of(away, 'sleep')).toMatchObject({
      result: 'skipped',
      decidedBy: 'sleep.away',
      message: 'They are away.',
    })
    const { to: _, ...message } = mail('')
    const [nowhere] = await notifier.explain({ ...message, channel: 'email', recipient: 'bob' })
    expect(nowhere).toMatchObject({ to: null, decidedBy: 'address' })
    questions.length = 0
    const person = await notifier.explain({ ...message, recipient: 'ada' })
    expect(person.map(({ to, decidedBy }) => [to, decidedBy])).toEqual([
      ['ada@example.com', null],
      ['late@example.com', 'sleep'],
    ])
    // One question for all: each costs look-ups, and a person may have hundreds of addresses.
    expect(questions).toEqual([['ada@example.com', 'late@example.com']])
  })

  it('says that it expires before it may go, as it does then', async () => {
    const { notifier, clock, ended } = await start()
    const sendAt = new Date(clock.now() + 2 * HOUR)
    const lasting = (hours: number) => ({
      ...mail('late@example.com'),
      sendAt,
      expiresAt: new Date(clock.now() + hours * HOUR),
    })
    const [short] = await notifier.explain(lasting(2.5))
    expect(short?.decidedBy).toBe('expiry')
    expect(of(short, 'expiry')).toMatchObject({ result: 'failed', code: 'expired' })
    expect(of((await notifier.explain(lasting(3)))[0], 'expiry')?.code).toBe('expired')
    expect(of((await notifier.explain(lasting(4)))[0], 'expiry')).toBeUndefined()
    const { id } = await notifier.send(lasting(2.5))
    const { decidedBy, gates } = await notifier.notifications.explain(id)
    expect([decidedBy, gates.find(({ gate }) => gate === 'expiry')?.code]).toEqual(['expiry', 'expired'])
    await clock.advance(2.5 * HOUR)
    await ended(id)
    expect((await notifier.notifications.get(id)).error?.code).toBe('expired')
    const after = await notifier.notifications.explain(id)
    expect(after.gates.filter(({ gate }) => gate === 'expiry')).toMatchObject([{ basis: 'recorded' }])
    const lasts = await notifier.send({ ...mail('ada@example.com'), expiresAt: new Date(clock.now() + HOUR) })
    await ended(lasts.id)
    await clock.advance(2 * HOUR)
    expect(await notifier.notifications.explain(lasts.id)).toMatchObject({ status: 'sent', decidedBy: null })
    expect(of(await notifier.notifications.explain(lasts.id), 'expiry')).toBeUndefined()
  })

  it('says what is wrong with it, and what could not be found out', async () => {
    const { notifier } = await start()
    const [wrong] = await notifier.explain(mail('nobody'))
    expect(wrong).toMatchObject({ channel: 'email', to: 'nobody', decidedBy: 'message' })
    expect(wrong?.gates).toMatchObject([{ gate: 'message', result: 'refused', code: 'invalid_email' }])
    const [broken] = await notifier.explain(mail('broken@example.com'))
    expect(of(broken, 'sleep')).toMatchObject({ result: 'unknown', code: 'service_unavailable' })
    await expect(notifier.organization('org_none').explain(mail('ada@example.com'))).rejects.toMatchObject({
      code: 'not_found',
    })
  })
})

describe('an explanation of a notification', () => {
  it('that was sent has the decisions as recorded', async () => {
    const { notifier, answers, ended } = await start()
    answers.push('retry')
    const { id } = await notifier.send(mail('ada@example.com'))
    await ended(id)
    await notifier.suppressions.add({ channel: 'email', to: 'ada@example.com' })
    const explanation = await notifier.notifications.explain(id)
    expect(explanation).toMatchObject({ id, status: 'sent', decidedBy: null })
    expect(brief(explanation)).toEqual([
      ...['message', 'limits', 'regions', 'suppressions', 'preferences', 'sleep'].map(
        (gate) => `${gate} passed recorded`,
      ),
      'attempt failed recorded',
      'attempt passed recorded',
    ])
  })

  it('that was skipped names what decided then', async () => {
    const { notifier, ended } = await start()
    const { id } = await notifier.send(mail('away@example.com'))
    await ended(id)
    const explanation = await notifier.notifications.explain(id)
    expect(explanation).toMatchObject({ status: 'skipped', decidedBy: 'sleep' })
    expect(of(explanation, 'sleep')).toMatchObject({
      result: 'skipped',
      basis: 'recorded',
      decidedBy: 'sleep.away',
    })
  })

  it('that was suppressed since names the suppression', async () => {
    const { notifier, clock, ended } = await start()
    const { id } = await notifier.send({ ...mail('bob@example.com'), sendAt: new Date(clock.now() + 10_000) })
    await notifier.suppressions.add({ channel: 'email', to: 'bob@example.com' })
    expect(of(await notifier.notifications.explain(id), 'suppressions')).toMatchObject({
      result: 'refused',
      basis: 'now',
    })
    await ended(id)
    const explanation = await notifier.notifications.explain(id)
    expect(explanation).toMatchObject({ status: 'failed', decidedBy: 'suppressions' })
    expect(of(explanation, 'suppressions')).toMatchObject({
      result: 'refused',
      basis: 'recorded',
      code: 'blocked_recipient',
    })
  })

  it('that ended otherwise says how', async () => {
    const { notifier, clock, ended } = await start()
    const soon = { sendAt: new Date(clock.now() + HOUR) }
    const cancelled = await notifier.send({ ...mail('ada@example.com'), ...soon })
    await notifier.notifications.cancel(cancelled.id)
    expect(await notifier.notifications.explain(cancelled.id)).toMatchObject({
      status: 'cancelled',
      decidedBy: 'delivery',
    })
    const expired = await notifier.send({
      ...mail('late@example.com'),
      expiresAt: new Date(clock.now() + 5_000),
    })
    await ended(expired.id)
    expect(await notifier.notifications.explain(expired.id)).toMatchObject({
      status: 'failed',
      decidedBy: 'expiry',
    })
    const { to: _, ...message } = mail('')
    const addressless = await notifier.send({ ...message, channel: 'email', recipient: 'bob' })
    await ended(addressless.id)
    const explanation = await notifier.notifications.explain(addressless.id)
    expect(explanation).toMatchObject({ status: 'skipped', to: null, decidedBy: 'address' })
  })

  it('that waits says for what', async () => {
    const { notifier, clock, answers } = await start()
    const late = await notifier.notifications.explain((await notifier.send(mail('late@example.com'))).id)
    expect(late).toMatchObject({ status: 'queued', decidedBy: 'sleep' })
    const scheduled = await notifier.send({
      ...mail('ada@example.com'),
      sendAt: new Date(clock.now() + HOUR),
    })
    expect((await notifier.notifications.explain(scheduled.id)).decidedBy).toBe('schedule')
    answers.push('retry')
    const retried = await notifier.send(mail('bob@example.com'))
    for (let step = 0; step < 200; step += 1) {
      const { waiting } = await notifier.notifications.get(retried.id)
      if (waiting?.reason === 'retry') break
      await clock.advance(1)
      await new Promise((resolve) => setTimeout(resolve, 5))
    }
    const waiting = await notifier.notifications.explain(retried.id)
    expect(waiting.decidedBy).toBe('attempt')
    expect(waiting.gates.at(-1)).toMatchObject({
      result: 'waits',
      code: 'provider_unavailable',
      until: expect.any(String),
    })
    await expect(notifier.notifications.explain('notif_1')).rejects.toMatchObject({
      code: 'notification_not_found',
    })
  })
})
