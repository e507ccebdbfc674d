import { expect, it, onTestFinished } from 'vitest'
import type { Provider } from '../../../../src/core/ports/provider.ts'
import { createNotifier } from '../../../../src/create-notifier.ts'
import { recordingLogger } from '../../../../src/testing/recording-logger.ts'

const HEAVY = 12

/** An organization whose mails take long to make, and another one, at one provider. */
async function neighbours() {
  const order: string[] = []
  const attempts: number[] = []
  let handedOver = (): void => {}
  const provider: Provider = {
    name: 'shared',
    maxConcurrent: 100,
    timeoutMs: 1_000,
    async send({ to }, { attempt }) {
      order.push(to.slice(0, to.indexOf('@')))
      attempts.push(attempt)
      handedOver()
      return { kind: 'accepted' }
    },
  }
  const log = recordingLogger()
  const notifier = createNotifier({
    channels: { email: provider },
    publicUrl: 'https://notify.example',
    delivery: { leaseMs: 2_000 },
    logger: log.logger,
  })
  onTestFinished(() => notifier.stop({ timeoutMs: 0 }))
  await notifier.start()
  const heavy = await notifier.organizations.create({ name: 'Heavy', tracking: { clicks: true } })
  const small = await notifier.organizations.create({ name: 'Small' })
  await notifier.organization(heavy.id).templates.create({
    name: 'heavy',
    channel: 'email',
    subject: 'Links',
    body: `{{a}}${'<a href="https://e.io">x</a>'.repeat(9_000)}`,
  })
  const next = (): Promise<void> => new Promise((resolve) => (handedOver = resolve))
  return { notifier, heavy: heavy.id, small: small.id, order, attempts, log, next }
}

it('the small mails of one organization go out while a set of heavy ones of another is made', async () => {
  const { notifier, heavy, small, order, attempts, log, next } = await neighbours()
  const mail = { to: 'heavy@example.com', template: 'heavy', variables: { a: 'e.io' } }
  const batch = await notifier.organization(heavy).sendBatch(Array(HEAVY).fill(mail))
  expect(batch.accepted).toBe(HEAVY)
  while (order.filter((name) => name === 'heavy').length < HEAVY) {
    const one = next()
    await notifier
      .organization(small)
      .send({ channel: 'email', to: 'small@example.com', subject: 'Hi', body: 'Hi' })
    await one
  }
  expect(
    order.slice(0, order.lastIndexOf('heavy')).filter((name) => name === 'small').length,
  ).toBeGreaterThan(5)
  // Those that waited for their share kept their leases, and were handed over once.
  expect(new Set(attempts)).toEqual(new Set([1]))
  expect(order.filter((name) => name === 'heavy')).toHaveLength(HEAVY)
  expect(log.lines().join()).toContain('more links than the option "bounds.trackedLinks"')
}, 60_000)
