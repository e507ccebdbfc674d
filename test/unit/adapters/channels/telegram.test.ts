import { describe, expect, it, onTestFinished } from 'vitest'
import { telegram, telegramChannel } from '../../../../adapters/channels/telegram/send.ts'
import { assertRecipient } from '../../../../src/core/channels/recipient.ts'
import type { ReceiptRequest } from '../../../../src/core/ports/receipts.ts'

const text = (body: string) => ({ subject: null, body, format: 'text' }) as const

describe('a chat', () => {
  it.each([
    '1',
    '123456789',
    '-1001234567890',
    '4503599627370495',
    '@news',
    '@News_2026',
    `@${'a'.repeat(32)}`,
  ])('may be %s', (to) => expect(() => assertRecipient(telegramChannel, to)).not.toThrow())

  it.each([
    '',
    '0',
    '-0',
    '007',
    '+1',
    '1.5',
    '4503599627370496',
    'news',
    '@abc',
    '@a-b-c-d',
    `@${'a'.repeat(33)}`,
  ])('is not %s', (to) =>
    expect(() => assertRecipient(telegramChannel, to)).toThrow(
      expect.objectContaining({
        code: 'invalid_recipient',
        message: 'The recipient must be a Telegram chat id such as 123456789 or -1001234567890, or an @name.',
      }),
    ),
  )

  it('has one spelling', () => {
    expect(['@News', '-100123'].map((to) => telegramChannel.canonical?.(to))).toEqual(['@news', '-100123'])
  })
})

describe('a text', () => {
  it('has at most 4096 characters, of whatever plane', () => {
    for (const character of ['a', '😀']) {
      expect(() => telegramChannel.assertText?.(text(character.repeat(4_096)))).not.toThrow()
      expect(() => telegramChannel.assertText?.(text(character.repeat(4_097)))).toThrow(
        'The text has 4097 characters; Telegram accepts at most 4096.',
      )
    }
  })

  it('is not blank', () => {
    const isBlank = (body: string) => telegramChannel.isBlank?.({ subject: 'Title', body, parts: undefined })
    expect([' \n', 'a'].map(isBlank)).toEqual([true, false])
  })
})

describe('parts', () => {
  const button = { text: 'Open', url: 'https://example.org/' }

  it.each([
    {},
    { silent: true, linkPreview: false, protect: true, threadId: 1, replyTo: 2_147_483_647 },
    { buttons: Array(12).fill(Array(8).fill(button)) },
    { buttons: [[{ text: 'Open', url: 'tg://resolve?domain=news' }]] },
  ])('are sound: %o', (parts) => expect(telegramChannel.parts?.safeParse(parts).data).toEqual(parts))

  it.each([
    { parseMode: 'HTML' },
    { silent: 'yes' },
    { threadId: 0 },
    { replyTo: 2_147_483_648 },
    { buttons: [] },
    { buttons: [[]] },
    { buttons: Array(13).fill([button]) },
    { buttons: [Array(9).fill(button)] },
    { buttons: [[{ ...button, url: 'javascript:alert(1)' }]] },
    { buttons: [[{ ...button, url: 'example.org' }]] },
    { buttons: [[{ ...button, text: '' }]] },
    { buttons: [[{ ...button, callback_data: 'x' }]] },
  ])('are refused: %o', (parts) => expect(telegramChannel.parts?.safeParse(parts).success).toBe(false))
})

describe('updates', () => {
  const SECRET = 'correct-horse_battery'

  async function read(update: unknown, token: string | undefined = SECRET) {
    const provider = telegram({
      token: `1:${'a'.repeat(35)}`,
      receipts: { secret: ['other-secret', SECRET] },
    })
    onTestFinished(() => provider.close?.())
    const request: ReceiptRequest = {
      method: 'POST',
      url: 'https://app.example/receipts/telegram/telegram',
      headers: { 'x-telegram-bot-api-secret-token': token },
      body: Buffer.from(typeof update === 'string' ? update : JSON.stringify(update)),
      receivedAt: 0,
    }
    return provider.parseReceipts?.(request)
  }

  const change = (status: string, type = 'private') => ({
    update_id: 7,
    my_chat_member: {
      chat: { id: 42, type },
      date: 1_763_726_400,
      old_chat_member: { status: 'member' },
      new_chat_member: { status },
    },
  })

  it('tell who has blocked the bot, and who has unblocked it', async () => {
    expect(await read(change('kicked'))).toEqual({
      kind: 'receipts',
      receipts: [{ dedupeKey: 'update|7', suppress: { address: '42', reason: 'stop' } }],
    })
    expect(await read(change('member'))).toEqual({
      kind: 'receipts',
      receipts: [{ dedupeKey: 'update|7', unsuppress: { address: '42' } }],
    })
  })

  it.each([
    ['a group that removes the bot', change('kicked', 'supergroup')],
    ['a status that nobody knows', change('constructor')],
    ['a message', { update_id: 8, message: { chat: { id: 42, type: 'private' }, text: '/stop' } }],
    ['nothing', { update_id: 9 }],
  ])('record nothing of %s', async (_, update) =>
    expect(await read(update)).toEqual({ kind: 'receipts', receipts: [] }),
  )

  it('are proven by the secret token', async () => {
    for (const token of [undefined, '', `${SECRET}x`, SECRET.slice(1)])
      expect(await read(change('kicked'), token ?? '')).toMatchObject({ kind: 'refused', why: 'signature' })
    expect(await read('{"update_id":')).toMatchObject({ kind: 'refused', why: 'malformed' })
    expect(() => telegram({ token: `1:${'a'.repeat(35)}`, receipts: { secret: 'short' } })).toThrow(
      '"receipts.secret": must be 8 to 256 letters, digits, underscores and hyphens',
    )
  })
})
