import { request as ask } from 'node:http'
import { afterEach, describe, expect, it, vi } from 'vitest'
import { type DevMailbox, devMailbox } from '../../../../adapters/dev-mailbox/index.ts'
import { notifierHandler } from '../../../../adapters/http/node.ts'
import { createNotifier, defineChannel, type SendInput } from '../../../../src/index.ts'
import { listen, portOf } from '../../../support/dashboard/mounts.ts'
import { inMemory } from '../../../support/in-memory.ts'

afterEach(() => void vi.unstubAllEnvs())

const pager = defineChannel({ name: 'pager', recipient: 'a pager number' })

/** Sends through a notifier, and answers the mailbox. */
async function caught(...messages: readonly SendInput[]): Promise<DevMailbox> {
  return catching(devMailbox(), messages)
}

async function catching(mailbox: DevMailbox, messages: readonly SendInput[]): Promise<DevMailbox> {
  const channels = { ...mailbox.channels, pager: mailbox.provider(pager) }
  const notifier = createNotifier({ storage: inMemory(), channels })
  await notifier.start()
  for (const message of messages) {
    const { id } = await notifier.send(message as never)
    expect(await notifier.waitFor(id)).toMatchObject({ status: 'sent', error: null })
  }
  await notifier.stop()
  return mailbox
}

const mail = { channel: 'email', to: 'ada@example.com', subject: 'Hi', html: '<p>Hello <b>Ada</b></p>' }
const sms = { channel: 'sms', to: '+436601234567', text: 'Code 1' }

async function serve(mailbox: DevMailbox): Promise<string> {
  return `http://127.0.0.1:${portOf(await listen(notifierHandler(mailbox, { prefix: '/mailbox' })))}/mailbox`
}

describe('a mailbox', () => {
  it('catches the messages of all channels, newest first', async () => {
    const mailbox = await caught(mail, sms, { channel: 'pager', to: '7', text: 'Call' })
    expect(mailbox.messages().map(({ channel }) => channel)).toEqual(['pager', 'sms', 'email'])
    const [only, ...others] = mailbox.messages({ to: 'ada@example.com' })
    expect(only).toMatchObject({
      channel: 'email',
      message: { subject: 'Hi', body: '<p>Hello <b>Ada</b></p>', format: 'html' },
      notificationId: expect.stringMatching(/^notif_/),
      organizationId: 'org_default',
    })
    expect(others).toEqual([])
    expect(mailbox.messages({ channel: 'sms' })).toHaveLength(1)
    expect(mailbox.messages({ channel: 'sms', to: 'ada@example.com' })).toEqual([])
    mailbox.clear()
    expect(mailbox.messages()).toEqual([])
  })

  it('keeps the newest, by number and by size', async () => {
    const few = await catching(devMailbox({ maxMessages: 2 }), [sms, mail, { ...sms, text: 'Code 2' }])
    expect(few.messages().map(({ message }) => message.body)).toEqual(['Code 2', mail.html])
    const content = Buffer.alloc(2_000).toString('base64')
    const attachments = [{ filename: 'a.bin', contentType: 'application/octet-stream', content }]
    const small = await catching(devMailbox({ maxBytes: 2_500 }), [sms, { ...mail, email: { attachments } }])
    expect(small.messages()).toHaveLength(2)
    const full = await catching(small, [{ ...mail, email: { attachments } }])
    expect(full.messages().map(({ channel }) => channel)).toEqual(['email'])
    const tiny = await catching(devMailbox({ maxBytes: 1 }), [sms, mail])
    expect(tiny.messages()).toHaveLength(1)
  })

  it('refuses to work in production, unless it may', () => {
    vi.stubEnv('NODE_ENV', 'production')
    expect(() => devMailbox()).toThrow(/sends nothing/)
    expect(() => devMailbox({ allowInProduction: true })).not.toThrow()
    expect(() => devMailbox({ maxMessages: 0 })).toThrow(
      expect.objectContaining({ code: 'invalid_configuration' }),
    )
  })
})

async function json(url: string): Promise<Record<string, unknown>> {
  return (await (await fetch(url)).json()) as Record<string, unknown>
}

describe('what the pages ask for', () => {
  it('is a list in pages, which a search narrows', async () => {
    const texts = Array.from({ length: 60 }, (_, index) => ({ ...sms, text: `Code ${index}` }))
    const url = `${await serve(await caught(mail, ...texts))}/api/messages`
    const first = await json(url)
    expect(first).toMatchObject({ hasMore: true, items: { length: 50, 0: { subject: 'Code 59' } } })
    const second = await json(`${url}?cursor=${first.nextCursor}`)
    expect(second).toMatchObject({
      hasMore: false,
      nextCursor: null,
      items: { length: 11, 0: { subject: 'Code 9' } },
    })
    const found = await json(`${url}?search=ADA`)
    expect(found.items).toMatchObject([{ to: 'ada@example.com', subject: 'Hi', channel: 'email' }])
  })

  const addressed = {
    ...mail,
    email: {
      from: 'Shop <shop@example.com>',
      cc: ['Charles <charles@example.org>'],
      bcc: ['archive@example.net'],
      replyTo: ['help@example.com'],
    },
  }

  it('is found by each address, its readable text and its channel', async () => {
    const styled = {
      ...mail,
      subject: 'Styled',
      html: '<style>p{color:red}</style><p>Your&nbsp;<b>parcel</b></p>',
    }
    const url = `${await serve(await caught(addressed, styled, sms))}/api/messages`
    const found = async (query: string) =>
      ((await json(`${url}?${query}`)).items as { id: string }[]).map(({ id }) => id)
    for (const address of ['shop@', 'charles', 'archive', 'HELP@example']) {
      expect(await found(`search=${address}`), address).toEqual(['1'])
    }
    expect(await found('search=parcel+styled')).toEqual(['2'])
    expect(await found('search=parcel+hello')).toEqual([])
    expect(await found('search=color')).toEqual([])
    expect(await found('channel=sms')).toEqual(['3'])
    expect(await found('channel=sms&search=ada')).toEqual([])
    expect(await json(url.replace('messages', 'channels'))).toEqual({ channels: ['email', 'sms'] })
    expect((await json(url)).items).toMatchObject([
      { subject: 'Code 1', beginning: '' },
      { subject: 'Styled', beginning: 'Your parcel' },
      { subject: 'Hi', beginning: 'Hello Ada' },
    ])
  })

  it('has neighbours in the list that the query makes', async () => {
    const url = `${await serve(await caught(mail, sms, mail, mail))}/api/messages`
    expect(await json(`${url}/3/neighbours`)).toEqual({ newer: '4', older: '2', place: 2, count: 4 })
    expect(await json(`${url}/3/neighbours?channel=email`)).toEqual({
      newer: '4',
      older: '1',
      place: 2,
      count: 3,
    })
    expect(await json(`${url}/1/neighbours`)).toMatchObject({ newer: '2', older: null })
    expect(await json(`${url}/2/neighbours?channel=email`)).toEqual({
      newer: null,
      older: null,
      place: null,
      count: 3,
    })
  })

  it('has the head of a mail, and warnings about what people would not see as intended', async () => {
    const html = `<img src="https://example.com/a.png"><a href="http://example.com">x</a>
<a href="http://localhost:3000/x">y</a><a href="http://127.0.0.1/x">z</a><a href="javascript:go()">w</a>`
    const local = { ...sms, text: 'http://app.localhost/x or http://localhost.example.com' }
    const url = `${await serve(await caught({ ...addressed, html }, sms, local))}/api/messages`
    const { head, warnings } = await json(`${url}/1`)
    expect(head).toEqual({
      from: 'Shop <shop@example.com>',
      cc: ['Charles <charles@example.org>'],
      bcc: ['archive@example.net'],
      replyTo: ['help@example.com'],
    })
    expect(warnings).toMatchObject([
      { severity: 'error', excerpt: '<a href="javascript:go()">' },
      { severity: 'warning', message: expect.stringContaining('alt='), field: 'body' },
      { severity: 'warning', excerpt: '<a href="http://example.com">' },
      { severity: 'warning', field: 'text' },
    ])
    expect(await json(`${url}/2`)).toMatchObject({ head: null, warnings: [] })
    expect(await json(`${url}/3`)).toMatchObject({ warnings: [{ excerpt: 'http://localhost.example.com' }] })
  })

  it('is a message with its parts, segments, links and files', async () => {
    const attachments = [
      { filename: 'ä".txt', contentType: 'text/html', content: Buffer.from('<b>').toString('base64') },
    ]
    const html = '<a href="https://example.com/?a=1&amp;b=2">x</a><a href="javascript:alert(1)">y</a>'
    const url = `${await serve(await caught({ ...mail, html, email: { attachments } }, sms))}/api/messages`
    expect(await json(`${url}/1`)).toMatchObject({
      subject: 'Hi',
      body: html,
      text: expect.stringContaining('x'),
      links: ['https://example.com/?a=1&b=2'],
      files: [{ filename: 'ä".txt', size: 3 }],
      parts: { attachments: [{ content: { bytes: 3 } }] },
      mail: true,
    })
    expect(await json(`${url}/2`)).toMatchObject({
      body: 'Code 1',
      parts: { segments: 1 },
      mail: false,
    })
    const file = await fetch(`${url}/1/files/0`)
    expect(await file.text()).toBe('<b>')
    expect(Object.fromEntries(file.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-disposition': "attachment; filename*=UTF-8''%C3%A4%22.txt",
      'x-content-type-options': 'nosniff',
    })
    const { source } = await json(`${url}/1/source`)
    expect(source).toMatch(
      /^Auto-Submitted: auto-generated\r\nFrom: no-reply@dev\.localhost\r\nTo: ada@example\.com/,
    )
    expect(source).toContain('Content-Type: multipart/mixed')
    for (const path of ['/3', '/1/files/1', '/2/source', '/2/files/0', '/x'])
      expect((await fetch(url + path)).status, path).toBe(404)
  })

  it('can be cleared by its own pages alone', async () => {
    const mailbox = await caught(sms)
    const url = `${await serve(mailbox)}/api/messages`
    for (const headers of [{}, { 'sec-fetch-site': 'cross-site' }, { origin: 'https://evil.example' }]) {
      expect((await fetch(url, { method: 'DELETE', headers })).status).toBe(403)
    }
    expect(mailbox.messages()).toHaveLength(1)
    expect(
      (await fetch(url, { method: 'DELETE', headers: { 'sec-fetch-site': 'same-origin' } })).status,
    ).toBe(200)
    expect(mailbox.messages()).toEqual([])
  })
})

describe('who may look', () => {
  /** The status, asked under a name. */
  function status(url: string, headers: Record<string, string>): Promise<number> {
    return new Promise((resolve, reject) => {
      const request = ask(`${url}/api/messages`, { headers }, (answer) => {
        answer.resume()
        resolve(answer.statusCode ?? 0)
      })
      request.on('error', reject).end()
    })
  }

  it.each([
    [{ host: 'localhost:3000' }, 200],
    [{ host: 'app.localhost' }, 200],
    [{ host: '[::1]:3000' }, 200],
    [{ host: '192.168.0.7' }, 200],
    [{ host: 'evil.example' }, 403],
    [{ host: 'localhost.evil.example' }, 403],
    [{ host: 'localhost', 'x-forwarded-for': '203.0.113.7' }, 403],
    [{ host: 'localhost', forwarded: 'for=203.0.113.7' }, 403],
  ])('is this machine, under its own names: %j', async (headers, expected) => {
    expect(await status(await serve(devMailbox()), headers as Record<string, string>)).toBe(expected)
    expect(
      await status(await serve(devMailbox({ allowRemote: true })), headers as Record<string, string>),
    ).toBe(200)
  })
})
