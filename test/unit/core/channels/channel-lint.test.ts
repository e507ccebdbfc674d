import type { ChatPostMessageArguments } from '@slack/web-api'
import { describe, expect, it } from 'vitest'
import { slackLint } from '../../../../src/core/channels/slack-lint.ts'
import { smsLint } from '../../../../src/core/channels/sms-lint.ts'

function sms(body: string): unknown[] {
  const text = { subject: null, body, format: 'text', parts: undefined, isMeasured: true } as const
  return [...smsLint.find(text)].map((fault) => [fault?.rule, fault?.excerpt])
}

describe('a text message', () => {
  it.each([
    ['Your code is 1234', []],
    ['Ça va, Müller? 5 €', []],
    ['It’s “here” – now…', [...'’“”–…'].map((character) => ['non_gsm_character', character])],
    ['Great 🎉', [['non_gsm_character', '🎉']]],
    ['Zażółć', [...'żółć'].map((character) => ['non_gsm_character', character])],
    ['Ваш код 1234 – 🎉', []],
    ['您的验证码', []],
    ['x'.repeat(160), []],
    ['x'.repeat(161), [['several_segments', undefined]]],
    ['€'.repeat(81), [['several_segments', undefined]]],
    ['д'.repeat(71), [['several_segments', undefined]]],
  ])('%s', (body, faults) => {
    expect(sms(body)).toEqual(faults)
  })
})

function slack(...blocks: readonly object[]): string[] {
  const text = { subject: null, body: 'x', format: 'text', isMeasured: true } as const
  const found = [...slackLint.find({ ...text, parts: { blocks: blocks as never } })]
  return found.flatMap((fault) => (fault === undefined ? [] : [`${fault.rule} ${fault.field}`]))
}

type AnyBlock = NonNullable<Extract<ChatPostMessageArguments, { blocks: unknown }>['blocks']>[number]
type Documented =
  | 'divider'
  | 'header'
  | 'section'
  | 'image'
  | 'context'
  | 'actions'
  | 'markdown'
  | 'rich_text'
  | 'video'

/** Slack's own types decide what is valid. */
const VALID: readonly Extract<AnyBlock, { type: Documented }>[] = [
  { type: 'divider', block_id: 'a' },
  { type: 'header', text: { type: 'plain_text', text: 'x'.repeat(150), emoji: true } },
  { type: 'section', text: { type: 'mrkdwn', text: 'x'.repeat(3_000) } },
  { type: 'section', fields: [{ type: 'plain_text', text: 'x' }] },
  {
    type: 'section',
    text: { type: 'mrkdwn', text: 'x' },
    accessory: {
      type: 'button',
      text: { type: 'plain_text', text: 'x' },
      action_id: 'b',
      url: 'https://a.example',
    },
  },
  { type: 'image', image_url: 'https://a.example/a.png', alt_text: 'A chart' },
  { type: 'image', slack_file: { id: 'F1' }, alt_text: 'A chart', title: { type: 'plain_text', text: 'x' } },
  {
    type: 'context',
    elements: [
      { type: 'mrkdwn', text: 'x' },
      { type: 'image', image_url: 'https://a.example/a.png', alt_text: 'x' },
    ],
  },
  {
    type: 'actions',
    elements: [
      { type: 'button', text: { type: 'plain_text', text: 'x' }, style: 'danger' },
      { type: 'datepicker' },
    ],
  },
  { type: 'markdown', text: '**x**' },
  { type: 'rich_text', elements: [] },
  {
    type: 'video',
    video_url: 'https://a.example',
    thumbnail_url: 'https://a.example',
    alt_text: 'x',
    title: { type: 'plain_text', text: 'x' },
  },
]

describe('a Slack message', () => {
  it('with valid blocks has no fault', () => {
    expect(slack(...VALID)).toEqual([])
  })

  it.each([
    [{}, 'invalid_block slack.blocks[0].type'],
    [{ type: 'sectoin' }, 'unknown_block slack.blocks[0].type'],
    [{ type: 'constructor' }, 'unknown_block slack.blocks[0].type'],
    [{ type: 'header' }, 'invalid_block slack.blocks[0].text'],
    [{ type: 'header', text: { type: 'mrkdwn', text: 'x' } }, 'invalid_block slack.blocks[0].text.type'],
    [
      { type: 'header', text: { type: 'plain_text', text: 'x'.repeat(151) } },
      'invalid_block slack.blocks[0].text.text',
    ],
    [{ type: 'section' }, 'invalid_block slack.blocks[0].text'],
    [{ type: 'section', text: 'x' }, 'invalid_block slack.blocks[0].text'],
    [
      { type: 'section', text: { type: 'mrkdwn', text: 'x'.repeat(3_001) } },
      'invalid_block slack.blocks[0].text.text',
    ],
    [
      { type: 'section', fields: Array(11).fill({ type: 'mrkdwn', text: 'x' }) },
      'invalid_block slack.blocks[0].fields',
    ],
    [{ type: 'image', image_url: 'https://a.example' }, 'invalid_block slack.blocks[0].alt_text'],
    [{ type: 'image', alt_text: 'x' }, 'invalid_block slack.blocks[0].image_url'],
    [{ type: 'context', elements: [] }, 'invalid_block slack.blocks[0].elements'],
    [{ type: 'context', elements: [{ type: 'button' }] }, 'invalid_block slack.blocks[0].elements[0].type'],
    [{ type: 'actions', elements: [{ type: 'button' }] }, 'invalid_block slack.blocks[0].elements[0].text'],
    [{ type: 'actions', elements: [{}] }, 'invalid_block slack.blocks[0].elements[0].type'],
    [{ type: 'divider', block_id: 'x'.repeat(256) }, 'invalid_block slack.blocks[0].block_id'],
    [{ type: 'markdown', text: '' }, 'invalid_block slack.blocks[0].text'],
  ])('%j is refused', (block, fault) => {
    expect(slack(block)).toEqual([fault])
  })

  it('names each block once', () => {
    expect(slack({ type: 'divider', block_id: 'a' }, { type: 'divider', block_id: 'a' })).toEqual([
      'invalid_block slack.blocks[1].block_id',
    ])
  })
})
