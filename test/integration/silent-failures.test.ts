import { connect, createServer } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { smtp } from '../../adapters/channels/smtp/send.ts'
import { freePort } from '../../examples/servers/free-port.ts'
import { createNotifier } from '../../src/create-notifier.ts'
import type { Notifier } from '../../src/notifier.ts'
import type { NotifierOptions } from '../../src/options.ts'
import { recordingLogger } from '../../src/testing/index.ts'
import { eventually } from '../support/eventually.ts'
import { scriptedSmtp } from '../support/scripted-smtp.ts'

async function started(options: NotifierOptions): Promise<Notifier> {
  const notifier = createNotifier(options)
  onTestFinished(() => notifier.stop({ timeoutMs: 0 }))
  await notifier.start()
  return notifier
}

/** A mail server on a port that was free until now. */
async function serveMail(port: number): Promise<void> {
  const mail = await scriptedSmtp()
  const server = createServer((socket) => {
    const upstream = connect(mail.port, '127.0.0.1')
    socket.pipe(upstream).pipe(socket)
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  onTestFinished(async () => {
    server.close()
    await mail.close()
  })
}

const MAIL = { channel: 'email', to: 'ada@example.com', subject: 'Hello', body: 'Hello' } as const

test('a wrong SMTP port shows in the log, in the health and on the notification, and so does the recovery', async () => {
  const port = await freePort()
  const { logger, lines } = recordingLogger()
  const notifier = await started({
    channels: { email: smtp({ host: '127.0.0.1', port, from: 'a@example.org' }) },
    delivery: { maxPauseMs: 200 },
    logger,
  })
  for (let sent = 0; sent < 5; sent += 1) await notifier.send(MAIL)

  const reason = expect.stringMatching(/^The provider "smtp" \(email\) .*: provider_unavailable\.$/)
  await eventually(async () => {
    expect(await notifier.health()).toMatchObject({ status: 'degraded', reason })
    return true
  })
  const error = { code: 'provider_unavailable', message: expect.stringContaining('ECONNREFUSED') }
  const waiting = { status: 'queued', error }
  const { id, ...tried } = await eventually(async () => {
    const { items } = await notifier.notifications.list({ status: 'queued' })
    return items.find((item) => item.error !== null)
  })
  expect(tried).toMatchObject(waiting)
  expect(await notifier.notifications.get(id)).toMatchObject(waiting)

  await serveMail(port)
  await eventually(async () => (await notifier.notifications.list({ status: 'queued' })).items.length === 0)
  expect(await notifier.notifications.get(id)).toMatchObject({ status: 'sent', error: null })
  expect(await notifier.health()).toMatchObject({ status: 'ok', reason: null })
  const told = lines().filter((line) => !line.startsWith('The storage is in memory'))
  expect(told.sort()).toEqual([
    expect.stringMatching(/^A provider failed to deliver\. .*"code":"provider_unavailable".*ECONNREFUSED/),
    expect.stringMatching(/^A provider is paused\. .*"code":"provider_unavailable".*ECONNREFUSED/),
    expect.stringMatching(/^A provider works again\. .*"provider":"smtp"/),
  ])
})
