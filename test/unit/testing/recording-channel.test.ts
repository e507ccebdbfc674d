import { afterEach, describe, expect, it } from 'vitest'
import { createNotifier, type Notifier } from '../../../src/index.ts'
import { recordingProvider } from '../../../src/testing/index.ts'

const open: Notifier[] = []
afterEach(async () => {
  for (const notifier of open.splice(0)) await notifier.stop()
})

async function start() {
  const email = recordingProvider()
  const notifier = createNotifier({ channels: { email } })
  open.push(notifier)
  await notifier.start()
  const send = (to: string, body: string) => notifier.send({ channel: 'email', to, body })
  return { email, notifier, send }
}

describe('recordingProvider', () => {
  it('keeps what a notifier hands over, and finds it again', async () => {
    const { email, send } = await start()
    await send('ada@example.com', 'First')
    await email.waitFor({ to: 'ada@example.com' })
    await send('bob@example.com', 'Second')
    await send('ada@example.com', 'Third')
    await email.waitFor({ to: 'ada@example.com', body: 'Third' })
    await email.waitFor(({ body }) => body === 'Second')
    expect(email.messages).toHaveLength(3)
    expect(email.lastTo('ada@example.com')?.body).toBe('Third')
    expect(email.lastTo('bob@example.com')?.body).toBe('Second')
    expect(email.lastTo('eve@example.com')).toBeUndefined()
    expect(email.calls.map(({ context }) => context.attempt)).toEqual([1, 1, 1])
  })

  it('waits for what is still to come, each waiter for its own', async () => {
    const { email, send } = await start()
    const waits = ['one', 'two'].map((body) => email.waitFor({ body }))
    await send('ada@example.com', 'two')
    await send('bob@example.com', 'one')
    expect((await Promise.all(waits)).map(({ to }) => to)).toEqual(['bob@example.com', 'ada@example.com'])
  })

  it('says what has come instead when nothing fits', async () => {
    const { email, send } = await start()
    await expect(email.waitFor({ body: 'never' }, { withinMs: 1 })).rejects.toThrow('There were: none.')
    await send('ada@example.com', 'something')
    await email.waitFor({ body: 'something' })
    await expect(email.waitFor({ body: 'never' }, { withinMs: 1 })).rejects.toThrow(
      '{"to":"ada@example.com","subject":null,"body":"something"}',
    )
  })

  it('forgets, and does what it is told', async () => {
    const { email, notifier, send } = await start()
    const failed = new Promise((resolve) => notifier.on('notification.failed', resolve))
    await send('ada@example.com', 'Hi')
    await email.waitFor({ body: 'Hi' })
    email.clear()
    expect([email.messages, email.lastTo('ada@example.com')]).toEqual([[], undefined])
    email.behave(() => ({ kind: 'rejected', code: 'mailbox_full', scope: 'recipient' }))
    await send('ada@example.com', 'Hi again')
    expect(await failed).toMatchObject({ data: { error: { code: 'mailbox_full' } } })
  })

  it('serves under any name', () => {
    expect(recordingProvider({ name: 'backup', maxConcurrent: 2 })).toMatchObject({
      name: 'backup',
      maxConcurrent: 2,
    })
  })

  it('takes an option that is there and undefined for one that is left out', () => {
    const left = { name: undefined, send: undefined }
    expect(recordingProvider(left)).toMatchObject({ name: 'recorder' })
  })
})
