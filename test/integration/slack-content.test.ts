import { WebClient } from '@slack/web-api'
import { describe, expect, it, onTestFinished } from 'vitest'
import { slack, slackWebhook } from '../../adapters/channels/slack/send.ts'
import type { SlackContent } from '../../src/core/channels/slack.ts'
import { createNotifier } from '../../src/index.ts'
import { providerServer } from '../../src/testing/channel/provider-server.ts'
import { sendContext } from '../support/channel-context.ts'
import { inMemory } from '../support/in-memory.ts'

/* What arrives at Slack of a message with all parts, through an app and through an incoming webhook. */

const TO = 'C0123456789'
const THREAD: SlackContent = {
  blocks: [{ type: 'section', text: { type: 'plain_text', text: 'Hi' } }],
  attachments: [{ color: '#2eb67d', fallback: 'All', blocks: [] }],
  threadTs: '1763726400.000100',
  unfurlLinks: false,
  unfurlMedia: true,
}
const FULL: SlackContent = { ...THREAD, replyBroadcast: true, username: 'Deploys', iconEmoji: ':rocket:' }

async function world(customize = true) {
  const server = await providerServer({
    accept: ({ path }) =>
      path.startsWith('/services/')
        ? { status: 200, body: 'ok' }
        : { status: 200, body: { ok: true, channel: TO, ts: '1763726400.000200' } },
  })
  const app = slack({ token: 'xoxb-correct-horse', baseUrl: server.url, unfurl: true, customize })
  const webhook = slackWebhook({ url: `${server.url}/services/T0/B0/secret-path`, to: TO })
  onTestFinished(async () => {
    await app.close?.()
    await webhook.close?.()
    await server.close()
  })
  const notifierOf = async (provider: typeof app) => {
    const notifier = createNotifier({ storage: inMemory(), channels: { slack: provider } })
    onTestFinished(() => notifier.stop())
    await notifier.start()
    return (parts: object) =>
      notifier.send({ channel: 'slack', to: TO, body: 'Hi', slack: parts } as Parameters<
        typeof notifier.send
      >[0])
  }
  return { server, app, webhook, notifierOf }
}

const message = (parts: SlackContent, more: object = {}) =>
  ({ to: TO, subject: null, body: 'Hi', format: 'text', slack: parts, ...more }) as const

describe('an app', () => {
  it("gets every part as Slack's own client sends it", async () => {
    const { server, app } = await world()
    const metadata = { order: '4711', notification_id: 'theirs' }
    expect(await app.send(message(FULL, { metadata }), sendContext())).toMatchObject({ kind: 'accepted' })
    const client = new WebClient('xoxb-correct-horse', { slackApiUrl: `${server.url}/` })
    await client.chat.postMessage({
      channel: TO,
      text: 'Hi',
      blocks: THREAD.blocks as never,
      attachments: THREAD.attachments as never,
      thread_ts: '1763726400.000100',
      reply_broadcast: true,
      unfurl_links: false,
      unfurl_media: true,
      username: 'Deploys',
      icon_emoji: ':rocket:',
      metadata: {
        event_type: 'carillon_notification',
        event_payload: { order: '4711', notification_id: sendContext().notificationId },
      },
    })
    const ours = JSON.parse(String(server.taken[0]?.body))
    const theirs = Object.fromEntries(new URLSearchParams(String(server.taken[1]?.body)))
    const asText = (value: unknown) => (typeof value === 'string' ? value : JSON.stringify(value))
    expect(Object.fromEntries(Object.entries(ours).map(([name, value]) => [name, asText(value)]))).toEqual(
      theirs,
    )
  })

  it('follows its own choice of previews without one of the message', async () => {
    const { server, app } = await world()
    await app.send(message({ unfurlMedia: false }), sendContext())
    expect(JSON.parse(String(server.taken[0]?.body))).toMatchObject({
      unfurl_links: true,
      unfurl_media: false,
    })
  })

  it.each(['username', 'iconEmoji', 'iconUrl'])('without the scope refuses %s at accept', async (part) => {
    const { app, notifierOf } = await world(false)
    const send = await notifierOf(app)
    const values = { username: 'x', iconEmoji: ':x:', iconUrl: 'https://a.example/b.png' }
    await expect(send({ [part]: values[part as keyof typeof values] })).rejects.toMatchObject({
      code: 'invalid_sender',
      details: { field: `slack.${part}` },
    })
  })
})

describe('an incoming webhook', () => {
  it('gets what it can carry', async () => {
    const { server, webhook } = await world()
    expect(await webhook.send(message(THREAD), sendContext())).toMatchObject({ kind: 'accepted' })
    expect(JSON.parse(String(server.taken[0]?.body))).toEqual({
      text: 'Hi',
      blocks: THREAD.blocks,
      attachments: THREAD.attachments,
      thread_ts: '1763726400.000100',
      unfurl_links: false,
      unfurl_media: true,
    })
  })

  it('refuses the rest at accept', async () => {
    const { webhook, notifierOf } = await world()
    const send = await notifierOf(webhook)
    await expect(send({ username: 'x' })).rejects.toMatchObject({ code: 'invalid_sender' })
    await expect(send({ threadTs: '1763726400.000100', replyBroadcast: true })).rejects.toMatchObject({
      code: 'invalid_content',
      details: { field: 'slack.replyBroadcast' },
    })
  })
})

it.each<[string, object, string]>([
  ['a thread by id', { threadTs: 'notif_1' }, 'slack.threadTs'],
  ['a thread as a number', { threadTs: 1763726400.0001 }, 'slack.threadTs'],
  ['a broadcast without a thread', { replyBroadcast: true }, 'slack.replyBroadcast'],
  ['no attachments', { attachments: [] }, 'slack.attachments'],
  ['21 attachments', { attachments: Array.from({ length: 21 }, () => ({})) }, 'slack.attachments'],
  ['a large attachment', { attachments: [{ text: 'x'.repeat(100_000) }] }, 'slack.attachments'],
  ['an attachment that is a text', { attachments: ['x'] }, 'slack.attachments.0'],
  ['an emoji without colons', { iconEmoji: 'rocket' }, 'slack.iconEmoji'],
  ['an icon without TLS', { iconUrl: 'http://a.example/b.png' }, 'slack.iconUrl'],
  ['two icons', { iconEmoji: ':x:', iconUrl: 'https://a.example/b.png' }, 'slack.iconUrl'],
  ['a name of two lines', { username: 'a\nb' }, 'slack.username'],
  ['a choice in words', { unfurlLinks: 'no' }, 'slack.unfurlLinks'],
])('parts with a fault are named: %s', async (_name, parts, field) => {
  const { app, notifierOf } = await world()
  const send = await notifierOf(app)
  await expect(send(parts)).rejects.toMatchObject({ code: 'invalid_parameter', details: { field } })
})
