import { createHmac } from 'node:crypto'
import { describe, expect, it, onTestFinished } from 'vitest'
import { slack } from '../../adapters/channels/slack/send.ts'
import type { ReceiptRequest } from '../../src/core/ports/receipts.ts'

const SECRET = '8f742231b10e8888abcd99yyyzzz85a5'
const refused = { kind: 'refused', why: 'signature' }

function open(secret: string | readonly string[] = SECRET) {
  const channel = slack({ token: 'xoxb-1', receipts: { secret } })
  onTestFinished(() => channel.close?.())
  return async (request: ReceiptRequest) => {
    const parsed = await channel.parseReceipts?.(request)
    if (parsed === undefined) throw new Error('The channel takes no events.')
    return parsed
  }
}

function signed(payload: unknown, at = Math.floor(Date.now() / 1000), secret = SECRET): ReceiptRequest {
  const body = typeof payload === 'string' ? payload : JSON.stringify(payload)
  const signature = createHmac('sha256', secret).update(`v0:${at}:${body}`).digest('hex')
  return {
    method: 'POST',
    url: 'https://app.example/receipts/slack/slack',
    headers: {
      'content-type': 'application/json',
      'x-slack-request-timestamp': String(at),
      'x-slack-signature': `v0=${signature}`,
    },
    body: Buffer.from(body),
    receivedAt: Date.now(),
  }
}

const event = (inner: object) => ({
  type: 'event_callback',
  event_id: 'Ev0123456789',
  event_time: 1_763_726_400,
  team_id: 'T1',
  event: inner,
})

describe('the signature', () => {
  /** The example of Slack's documentation, "Verifying requests from Slack". */
  const documented: ReceiptRequest = {
    method: 'POST',
    url: 'https://app.example/receipts/slack/slack',
    headers: {
      'content-type': 'application/x-www-form-urlencoded',
      'x-slack-request-timestamp': '1531420618',
      'x-slack-signature': 'v0=a2114d57b48eac39b9ad189dd8316235a7b4a8d21a10bd27519666489c69b503',
    },
    body: Buffer.from(
      'token=xyzz0WbapA4vBCDEFasx0q6G&team_id=T1DC2JH3J&team_domain=testteamnow&channel_id=G8PSS9T3V&' +
        'channel_name=foobar&user_id=U2CERLKJA&user_name=roadrunner&command=%2Fwebhook-collect&text=&' +
        'response_url=https%3A%2F%2Fhooks.slack.com%2Fcommands%2FT1DC2JH3J%2F397700885554%2F96rGlfmibIGlgcZRskXaIFfN&' +
        'trigger_id=398738663015.47445629121.803a0bc887a14d10d2c447fce8b6703c',
    ),
    receivedAt: 1_531_420_618_000,
  }

  it("is right over the example of Slack's documentation, and over no other byte of it", async () => {
    const parse = open()
    // A command is no event, but proven.
    expect(await parse(documented)).toMatchObject({ kind: 'refused', why: 'malformed' })
    const changed = Buffer.from(documented.body)
    changed[10] = (changed[10] ?? 0) ^ 1
    expect(await parse({ ...documented, body: changed })).toMatchObject(refused)
  })

  it('is refused by another key, changed, old, of the future, and absent', async () => {
    const parse = open()
    const now = Math.floor(Date.now() / 1000)
    const payload = event({ type: 'app_uninstalled' })
    const good = signed(payload)
    expect(await parse(good)).toMatchObject({ kind: 'receipts' })
    for (const bad of [
      signed(payload, now, 'another-secret'),
      signed(payload, now - 400),
      signed(payload, now + 400),
      { ...good, body: Buffer.from(`${Buffer.from(good.body)} `) },
      { ...good, headers: { ...good.headers, 'x-slack-request-timestamp': String(now - 1) } },
      { ...good, headers: { ...good.headers, 'x-slack-signature': undefined } },
      { ...good, headers: {} },
    ]) {
      expect(await parse(bad)).toMatchObject(refused)
    }
  })

  it('may be by either secret during a change', async () => {
    expect(await open(['new-secret', SECRET])(signed(event({ type: 'app_uninstalled' })))).toMatchObject({
      kind: 'receipts',
    })
  })
})

describe('an event', () => {
  it('that verifies the address is answered with its challenge', async () => {
    expect(await open()(signed({ type: 'url_verification', challenge: '3eZbrw1a', token: 'x' }))).toEqual({
      kind: 'receipts',
      receipts: [],
      answer: { contentType: 'text/plain', body: '3eZbrw1a' },
    })
  })

  it.each([
    ['reaction_added', { item: { type: 'message', channel: 'C1', ts: '1763726400.000001' }, reaction: '+1' }],
    [
      'message_deleted',
      { type: 'message', subtype: 'message_deleted', channel: 'C1', deleted_ts: '1763726400.000001' },
    ],
  ])('about a message is reported of it: %s', async (what, inner) => {
    expect(await open()(signed(event({ type: what, ...inner })))).toEqual({
      kind: 'receipts',
      receipts: [
        {
          dedupeKey: 'Ev0123456789',
          fact: {
            type: 'reported',
            providerMessageId: 'C1:1763726400.000001',
            providerCode: what,
            occurredAt: 1_763_726_400_000,
          },
        },
      ],
    })
  })

  it.each([
    ['tokens_revoked', { tokens: { bot: ['U1'] } }],
    ['app_uninstalled', {}],
    ['channel_archive', { channel: 'C1', user: 'U1' }],
    ['reaction_added', { item: { type: 'file', file: 'F1' } }],
    ['message', { channel: 'C1', text: 'Hello' }],
    ['brand_new', {}],
  ])('about no message of ours is taken, and records nothing: %s', async (type, inner) => {
    expect(await open()(signed(event({ type, ...inner })))).toEqual({ kind: 'receipts', receipts: [] })
  })

  it('of an unknown kind is taken; what is no event is malformed', async () => {
    expect(await open()(signed({ type: 'app_rate_limited' }))).toEqual({ kind: 'receipts', receipts: [] })
    for (const body of ['', '[]', '{"type":null}', '{"type":"url_verification"}'])
      expect(await open()(signed(body))).toMatchObject({ kind: 'refused', why: 'malformed' })
  })
})
