import { describe, expect, it } from 'vitest'
import { assertRecipient } from '../../../src/core/channels/recipient.ts'
import { ERRORS } from '../../../src/core/errors/catalogue.ts'
import { finish } from '../../../src/core/loop/steps.ts'
import { foldFact, initialFold, statusOf } from '../../../src/core/notification/status.ts'
import type { Message, SendContext } from '../../../src/core/ports/provider.ts'
import { createNotifier } from '../../../src/index.ts'
import { fakeClock, recordingLogger, simulatorProvider } from '../../../src/testing/index.ts'
import {
  readSimulated,
  SIMULATED_CASES,
  SIMULATED_CHANNELS,
  SIMULATED_CODES,
  SIMULATED_FORMS,
  simulatedName,
} from '../../../src/testing/simulator/recipients.ts'
import { kindOf } from '../../support/kinds.ts'

const NAMES = [
  ...SIMULATED_CASES.map(({ name }) => name),
  ...SIMULATED_FORMS.map(({ sms }) => sms),
  ...SIMULATED_CODES.flatMap(([code]) => [`rejected-${code}`, `retry-${code}`]),
]

/** Of the codes with the status that providers' codes have, those of requests and of the engine's own decisions. */
const NOT_OF_PROVIDERS = [
  ...['missing_required_field', 'invalid_channel', 'invalid_template_variable', 'idempotency_key_reused'],
  ...['attempts_exhausted', 'channel_not_configured', 'opted_out', 'no_address'],
  ...[
    'unknown_category',
    'unknown_recipient',
    'invalid_person',
    'unknown_attachment',
    'storage_quota_exceeded',
    'invalid_template',
    'missing_translation',
  ],
]

function message(to: string): Message {
  return { to, subject: null, body: 'Hi', format: 'text' }
}

function context(more: Partial<SendContext> = {}): SendContext {
  const id = `notif_${'1'.repeat(34)}`
  return {
    notificationId: id,
    organizationId: 'org_default',
    attempt: 1,
    idempotencyKey: id,
    createdAt: 0,
    expiresInMs: null,
    signal: new AbortController().signal,
    logger: recordingLogger().logger,
    runInSlices: finish,
    ...more,
  }
}

describe.each(SIMULATED_CHANNELS)('simulatorProvider on %s', (channel) => {
  it('has a recipient of a valid form for every name, and knows each again, with a tag too', () => {
    const simulator = simulatorProvider({ channel })
    const recipients = NAMES.map((name) => simulator.recipient(name))
    expect(new Set(recipients).size).toBe(NAMES.length)
    for (const [index, to] of recipients.entries()) {
      assertRecipient(kindOf(channel), to)
      expect(simulatedName(channel, to)).toBe(NAMES[index])
    }
    if (channel === 'sms') return
    const tagged = simulator.recipient('delivered', '17')
    assertRecipient(kindOf(channel), tagged)
    expect([tagged === simulator.recipient('delivered'), simulatedName(channel, tagged)]).toEqual([
      false,
      'delivered',
    ])
  })

  it.each(SIMULATED_CODES)(
    'answers with %s, for good and for now, as a fault of the %s',
    async (code, scope) => {
      const simulator = simulatorProvider({ channel })
      for (const kind of ['rejected', 'retry'] as const) {
        const answer = await simulator.send(message(simulator.recipient(`${kind}-${code}`)), context())
        expect(answer).toMatchObject({ kind, code, scope })
      }
      expect([simulator.accepted, simulator.receipts()]).toEqual([[], []])
    },
  )

  it.each([
    ['accepted', [], 'sent'],
    ['delivered', ['delivered'], 'delivered'],
    ['bounced', ['bounced'], 'failed'],
    ['soft-bounced', ['bounced'], 'failed'],
    ['bounced-after-delivery', ['delivered', 'bounced'], 'failed'],
    ['undelivered', ['undelivered'], 'failed'],
    ['deferred', ['deferred', 'delivered'], 'delivered'],
    ['opened', ['delivered', 'opened'], 'opened'],
    ['clicked', ['delivered', 'opened', 'clicked'], 'clicked'],
    ['complained', ['delivered', 'complained'], 'delivered'],
    ['unsubscribed', ['delivered', 'unsubscribed'], 'delivered'],
    ['reported', ['reported'], 'sent'],
  ])('to %s accepts, and reports %j, which folds to %s', async (name, types, status) => {
    const simulator = simulatorProvider({ channel })
    const to = simulator.recipient(name)
    const answer = await simulator.send(message(to), context())
    expect(answer.kind).toBe('accepted')
    const { providerMessageId } = answer as { providerMessageId: string }
    const posts = simulator.receipts()
    expect(simulator.receipts()).toEqual([])
    const parsed = await Promise.all(posts.map((post) => simulator.parseReceipts(post)))
    const receipts = parsed.flatMap((each) => (each.kind === 'receipts' ? each.receipts : []))
    expect(receipts.map(({ fact }) => fact?.type)).toEqual(types)
    expect(new Set(receipts.map(({ dedupeKey }) => dedupeKey)).size).toBe(types.length)
    let fold = foldFact(initialFold('queued'), { type: 'sent', provider: 'simulator', providerMessageId })
    for (const { fact, notificationId } of receipts) {
      expect(notificationId).toBe(context().notificationId)
      if (fact !== undefined) fold = foldFact(fold, { ...fact, provider: 'simulator' })
    }
    expect(statusOf(fold)).toBe(status)
    const reasons = { bounced: 'hard_bounce', complained: 'complaint', unsubscribed: 'unsubscribe' }
    const reason = reasons[name.replace('-after-delivery', '') as keyof typeof reasons]
    expect(receipts.at(-1)?.suppress).toEqual(reason && { address: to, reason })
  })

  it('breaks, falls silent and throws', async () => {
    const simulator = simulatorProvider({ channel })
    const send = (name: string, more?: Partial<SendContext>) =>
      simulator.send(message(simulator.recipient(name)), context(more))
    expect((await send('ambiguous')).kind).toBe('ambiguous')
    await expect(send('throws')).rejects.toThrow('Simulated')
    const abort = new AbortController()
    const silent = send('timeout', { signal: abort.signal })
    abort.abort()
    expect((await silent).kind).toBe('ambiguous')
    expect((await send('accepted', { signal: AbortSignal.abort() })).kind).toBe('retry')
  })

  it('fails so many times and takes so long as the name says', async () => {
    const clock = fakeClock()
    const simulator = simulatorProvider({ channel, clock })
    const flaky = (attempt: number) =>
      simulator.send(message(simulator.recipient('flaky-2')), context({ attempt }))
    expect([await flaky(1), await flaky(2), await flaky(3)].map(({ kind }) => kind)).toEqual([
      'retry',
      'retry',
      'accepted',
    ])
    let answered = false
    const delayed = simulator.send(message(simulator.recipient('delayed-1000')), context()).then((answer) => {
      answered = true
      return answer
    })
    await clock.advance(999)
    expect(answered).toBe(false)
    await clock.advance(1)
    expect((await delayed).kind).toBe('accepted')
    const abort = new AbortController()
    const cut = simulator.send(
      message(simulator.recipient('delayed-1000')),
      context({ signal: abort.signal }),
    )
    abort.abort()
    expect((await cut).kind).toBe('ambiguous')
  })
})

describe('simulatorProvider', () => {
  it('can fail with every code of the catalogue that a provider can fail with', () => {
    const listed = SIMULATED_CODES.map(([code]) => code)
    expect(new Set(listed).size).toBe(listed.length)
    const expected = Object.entries(ERRORS).flatMap(([code, { status }]) =>
      status === 422 && !NOT_OF_PROVIDERS.includes(code) ? [code] : [],
    )
    // What a provider answers without its package.
    expect([...listed].sort()).toEqual([...expected, 'missing_peer'].sort())
  })

  it('refuses names that nothing has, and messages to them: a slip must not pass for a success', async () => {
    const email = simulatorProvider({ channel: 'email' })
    for (const name of ['', 'bounce', 'rejected-nonsense', 'delayed-', 'delayed-x', 'flaky-1.5', 'retry']) {
      expect(readSimulated(name)).toBeNull()
      expect(() => email.recipient(name)).toThrow(expect.objectContaining({ code: 'invalid_configuration' }))
    }
    expect(() => simulatorProvider({ channel: 'sms' }).recipient('delayed-7')).toThrow(
      /no recipient "delayed-7" on sms/,
    )
    expect(await email.send(message('bounce@simulator.example'), context())).toMatchObject({
      kind: 'rejected',
      code: 'invalid_recipient',
    })
  })

  it('accepts everybody else', async () => {
    const email = simulatorProvider({ channel: 'email' })
    expect((await email.send(message('ada@example.com'), context())).kind).toBe('accepted')
    expect(email.accepted.map((each) => each.message.to)).toEqual(['ada@example.com'])
  })

  it('believes no report that it did not sign, and reads no nonsense', async () => {
    const [email, other] = [simulatorProvider({ channel: 'email' }), simulatorProvider({ channel: 'email' })]
    await email.send(message(email.recipient('delivered')), context())
    const [post] = email.receipts()
    if (post === undefined) throw new Error('There is no report.')
    expect(post).toMatchObject({ method: 'POST', url: 'https://carillon.example/receipts/email/simulator' })
    expect(await other.parseReceipts(post)).toMatchObject({ kind: 'refused', why: 'signature' })
    const changed = Buffer.from(String(Buffer.from(post.body)).replace('delivered', 'bounced'))
    expect(await email.parseReceipts({ ...post, body: changed })).toMatchObject({ why: 'signature' })
    expect(await email.parseReceipts({ ...post, headers: {} })).toMatchObject({ why: 'signature' })
    expect(await email.parseReceipts(post)).toMatchObject({ kind: 'receipts' })
  })

  it('shows in a notifier what a failing provider looks like', async () => {
    const email = simulatorProvider({ channel: 'email' })
    const notifier = createNotifier({ channels: { email } })
    const failed = new Promise((resolve) => notifier.on('notification.failed', resolve))
    await notifier.start()
    try {
      await notifier.send({ channel: 'email', to: email.recipient('rejected-mailbox_full'), body: 'Hi' })
      expect(await failed).toMatchObject({ data: { error: { code: 'mailbox_full' } } })
    } finally {
      await notifier.stop()
    }
  })
})
