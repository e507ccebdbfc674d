import { describe, expect, it } from 'vitest'
import { discordChannel } from '../../../../adapters/channels/discord/send.ts'
import { assertRecipient } from '../../../../src/core/channels/recipient.ts'
import { compileTemplate } from '../../../../src/core/text/compile.ts'

const text = (body: string) => ({ subject: null, body, format: 'text' }) as const
const ID = '123456789012345678'

describe('a channel', () => {
  it.each([ID, '#alerts', '#grüße', '#Alerts-2'])('may be %s', (to) =>
    expect(() => assertRecipient(discordChannel, to)).not.toThrow(),
  )

  it.each(['', '1', 'alerts', '#', '#a b', '#<@1>', '@everyone', `#${'a'.repeat(101)}`])('is not %s', (to) =>
    expect(() => assertRecipient(discordChannel, to)).toThrow(
      expect.objectContaining({
        code: 'invalid_recipient',
        message: 'The recipient must be a Discord channel id or a #channel.',
      }),
    ),
  )

  it('has one spelling', () => expect(discordChannel.canonical?.('#Alerts')).toBe('#alerts'))
})

describe('a text', () => {
  it('has at most 2000 characters, of whatever plane', () => {
    for (const character of ['a', '😀']) {
      expect(() => discordChannel.assertText?.(text(character.repeat(2_000)))).not.toThrow()
      expect(() => discordChannel.assertText?.(text(character.repeat(2_001)))).toThrow(
        'The text has 2001 characters; Discord accepts at most 2000.',
      )
    }
  })

  it('is blank only where there are no embeds', () => {
    const isBlank = (body: string, parts?: object) => discordChannel.isBlank?.({ subject: null, body, parts })
    expect([isBlank(' '), isBlank(' ', { embeds: [{ title: 'T' }] }), isBlank('a')]).toEqual([
      true,
      false,
      false,
    ])
  })

  it.each([
    ['**bold** _it_ ~~no~~', '\\*\\*bold\\*\\* \\_it\\_ \\~\\~no\\~\\~'],
    ['`code` ||spoiler||', '\\`code\\` \\|\\|spoiler\\|\\|'],
    ['<@123456789012345678> <@&1> <#1> <t:1>', '\\<@123456789012345678\\> \\<@&1\\> \\<\\#1\\> \\<t:1\\>'],
    ['[bank](https://evil.example)', '\\[bank\\]\\(https://evil.example\\)'],
    ['# Title\n> quote\n- item\n-# small', '\\# Title\n\\> quote\n\\- item\n-\\# small'],
    ['\\*', '\\\\\\*'],
    ['2026-01-15, a+b, ada@example.com', '2026-01-15, a+b, ada@example.com'],
    ['see https://example.com/a_b-c?d=1#e_f now', 'see https://example.com/a_b-c?d=1#e_f now'],
    ['https://a.example)[x](https://evil.example', 'https://a.example\\)\\[x\\]\\(https://evil.example'],
  ])('shows a value of a template as it is: %s', (value, shown) => {
    const template = compileTemplate(discordChannel, { subject: null, body: '**{{value}}**', format: null })
    expect(template.render({ value }).body).toBe(`**${shown}**`)
  })
})

describe('parts', () => {
  it.each([
    {},
    { embeds: [{ title: 'T', fields: [{ name: 'a', value: 'b' }] }], username: 'Shop', silent: true },
    { embeds: Array(10).fill({ title: 'a'.repeat(300), description: 'b'.repeat(300) }) },
    { threadId: ID, suppressEmbeds: true, avatarUrl: 'https://example.org/a.png' },
    { mentions: { users: [ID], roles: Array(100).fill(ID) } },
  ])('are sound: %o', (parts) => expect(discordChannel.parts?.safeParse(parts).data).toEqual(parts))

  it.each([
    { tts: true },
    { embeds: [] },
    { embeds: ['text'] },
    { embeds: Array(11).fill({ title: 'T' }) },
    { embeds: Array(10).fill({ title: 'a'.repeat(300), description: 'b'.repeat(301) }) },
    { embeds: [{ description: 'a'.repeat(3_000) }, { fields: [{ name: 'n', value: 'b'.repeat(3_000) }] }] },
    { embeds: [{ author: { name: 'a'.repeat(3_000) } }, { footer: { text: 'b'.repeat(3_001) } }] },
    { embeds: [{ url: `https://example.org/${'a'.repeat(50_000)}` }] },
    { username: '' },
    { username: 'a'.repeat(81) },
    { avatarUrl: 'http://example.org/a.png' },
    { threadId: '1&wait=false' },
    { mentions: { users: ['everyone'] } },
    { mentions: { roles: Array(101).fill(ID) } },
    { mentions: { everyone: true } },
  ])('are refused: %#', (parts) => expect(discordChannel.parts?.safeParse(parts).success).toBe(false))
})
