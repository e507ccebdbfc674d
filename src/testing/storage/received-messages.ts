import assert from 'node:assert/strict'
import type { ReceivedMessage } from '../../core/notification/received-message.ts'
import type { ConsentReport, ReceiptAnswer } from '../../core/ports/storage/receipts.ts'
import type { FollowingWrite } from '../../core/ports/storage/records.ts'
import { DEFAULT_ORGANIZATION } from '../../core/tenancy/organization.ts'
import { claimOne, endpoint, organization, page, TEN, unique } from './fixtures.ts'
import type { Check } from './harness.ts'
import { keeping, reasons } from './record-fixtures.ts'

const WEEK = 7 * 86_400_000

/** A report of a text to an organization's own instance. */
function incoming(
  organizationId: string,
  change: Partial<ReceivedMessage> & { readonly consent?: 'stop' | null } = {},
): ConsentReport & { readonly received: ReceivedMessage } {
  const received: ReceivedMessage = {
    id: `in_${unique()}`,
    organizationId,
    channel: 'sms',
    provider: 'twilio',
    from: '+14155550123',
    to: null,
    text: 'Hello \u0000 “you” 🛑',
    consent: null,
    ...change,
  }
  return { provider: 'twilio', organizationId, dedupeKey: received.id, consent: [], received }
}

function eventOf(answer: ReceiptAnswer | undefined) {
  assert.ok(answer?.kind === 'applied' && answer.received !== undefined)
  return answer.received
}

export function receivedMessageChecks(check: Check): void {
  check(
    'a received text is published once, to the endpoints of its organization that chose it',
    async (harness) => {
      const { storage } = harness
      const [own, foreign] = [await organization(storage), await organization(storage)]
      const events = ['notification.sent', 'message.received'] as const
      const hook = await endpoint(storage, { organizationId: own, events })
      const deaf = await endpoint(storage, { organizationId: own, events: ['notification.sent'] })
      const others = [
        await endpoint(storage, { organizationId: foreign, events }),
        await endpoint(storage, { organizationId: DEFAULT_ORGANIZATION, events }),
      ]
      const report = incoming(own)
      const [answer, again] = await storage.recordReceipts([report, report])
      const { event, data } = eventOf(answer)
      const { timestamp, ...rest } = data
      assert.equal(event, 'message.received')
      assert.deepEqual(rest, report.received)
      assert.ok(Number.isFinite(Date.parse(timestamp)))
      assert.deepEqual(again, { kind: 'duplicate' })
      assert.deepEqual(await storage.recordReceipts([report]), [{ kind: 'duplicate' }])
      const job = await claimOne(storage, hook.id)
      assert.ok(job.kind === 'event')
      assert.equal(job.delivery.eventId, `evt_${report.received.id}`)
      assert.deepEqual(JSON.parse(job.delivery.payload), { event, data })
      for (const { id: endpointId } of [deaf, ...others])
        assert.deepEqual((await storage.webhookEndpoints.deliveries({ endpointId }, page())).items, [])
      assert.equal(
        (await storage.webhookEndpoints.deliveries({ endpointId: hook.id }, page())).items.length,
        1,
      )
    },
  )

  check('a received opt-out is applied and published in one commit', async (harness) => {
    const { storage, secondDoor } = harness
    const own = await organization(storage)
    await endpoint(storage, { organizationId: own, events: ['message.received'] })
    const optOut = (id: string): readonly FollowingWrite[] => [
      keeping(id, own, { reason: 'stop', source: 'twilio' }),
    ]
    const report = { ...incoming(own, { consent: 'stop' }), consent: optOut('ada') }
    eventOf((await storage.recordReceipts([report]))[0])
    assert.deepEqual(await reasons(storage, ['ada']), ['stop'])
    const tooLong = { ...incoming(own), consent: optOut('x'.repeat(5_000)) }
    const [failed] = await storage.recordReceipts([tooLong])
    assert.equal(failed?.kind, 'failed')
    assert.equal((await secondDoor.deliveries()).length, 1)
  })

  check('ten reports of one text in a race publish it once', async ({ storage, secondDoor }) => {
    const own = await organization(storage)
    await endpoint(storage, { organizationId: own, events: ['message.received'] })
    const report = incoming(own)
    const answers = await Promise.all(TEN.map(() => storage.recordReceipts([report])))
    const kinds = answers.flat().map(({ kind }) => kind)
    assert.deepEqual(kinds.sort(), ['applied', ...Array(9).fill('duplicate')])
    assert.equal((await secondDoor.deliveries()).length, 1)
  })

  check('the events of received texts go when they are old', async (harness) => {
    const { storage, secondDoor } = harness
    const own = await organization(storage)
    const hook = await endpoint(storage, { organizationId: own, events: ['message.received'] })
    await storage.recordReceipts([incoming(own)])
    const { jobId, token } = await claimOne(storage, hook.id)
    await storage.settle([{ kind: 'event', jobId, token, ended: 'delivered', next: { kind: 'end' } }])
    const what = { organizationId: own, olderThanMs: WEEK }
    await harness.advance(WEEK - 60_000)
    await storage.expire({ what, most: 10 })
    assert.equal((await secondDoor.deliveries()).length, 1)
    await harness.advance(60_000)
    assert.equal((await storage.expire({ what, most: 10 })).removed.deliveries, 1)
    assert.deepEqual(await secondDoor.deliveries(), [])
  })

  check('a sweep ends when no event of an old received text is left', async (harness) => {
    const { storage, secondDoor } = harness
    const own = await organization(storage)
    const hook = await endpoint(storage, { organizationId: own, events: ['message.received'] })
    const texts = 5
    for (let text = 0; text < texts; text += 1) {
      await storage.recordReceipts([incoming(own)])
      const { jobId, token } = await claimOne(storage, hook.id)
      await storage.settle([{ kind: 'event', jobId, token, ended: 'delivered', next: { kind: 'end' } }])
    }
    await harness.advance(WEEK)
    const what = { organizationId: own, olderThanMs: WEEK }
    let [after, steps]: [string | undefined, number] = [undefined, 0]
    do {
      after = (await storage.expire({ what, most: 2, after })).next ?? undefined
      steps += 1
    } while (after !== undefined && steps <= texts)
    assert.deepEqual(await secondDoor.deliveries(), [])
    assert.equal(after, undefined, 'the sweep does not end')
  })
}
