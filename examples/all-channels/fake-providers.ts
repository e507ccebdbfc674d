import { createHmac } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout } from 'node:timers/promises'

/** State that the fake providers and the example share. */
export interface Shared {
  readonly twilioToken: string
  readonly slackSigningSecret: string
  /** Address of Carillon's route for Slack's reports. Twilio gets its address with every message. */
  slackReceipts(): string
  readonly metaAppSecret: string
  /** Address of Carillon's route for WhatsApp's reports. */
  whatsappReceipts(): string
}

export interface FakeProviders {
  readonly url: string
  close(): Promise<void>
}

const REPORT_AFTER_MS = 200
const FORM = 'application/x-www-form-urlencoded'
const JSON_TYPE = 'application/json'

/**
 * Simulates Twilio, Firebase Cloud Messaging with Google's token endpoint, Slack, WhatsApp, Telegram, Discord and a webhook
 * receiver. Each answers like the real service. Twilio, Slack and WhatsApp also report afterwards, with real signatures.
 */
export async function startFakeProviders(shared: Shared): Promise<FakeProviders> {
  const reports = new Set<Promise<unknown>>()
  // A carrier or a reader takes a moment.
  const report = (url: string, body: string, headers: Record<string, string>): void => {
    const sent = setTimeout(REPORT_AFTER_MS)
      .then(() => fetch(url, { method: 'POST', body, headers }))
      .then(
        ({ status }) => {
          if (status !== 200)
            console.error(`A report to ${new URL(url).pathname} was answered with ${status}.`)
        },
        (error: unknown) => console.error(error),
      )
    reports.add(sent)
    void sent.finally(() => reports.delete(sent))
  }

  let texts = 0
  function twilio(body: string): object {
    const message = new URLSearchParams(body)
    texts += 1
    const sid = `SM${String(texts).padStart(32, '0')}`
    const callback = message.get('StatusCallback')
    if (callback !== null) {
      const fields = { MessageSid: sid, MessageStatus: 'delivered', To: message.get('To') ?? '' }
      const signed = Object.entries(fields).sort().flat().join('')
      const signature = createHmac('sha1', shared.twilioToken).update(callback + signed)
      const form = new URLSearchParams(fields).toString()
      report(callback, form, { 'content-type': FORM, 'x-twilio-signature': signature.digest('base64') })
    }
    return { sid, status: 'queued' }
  }

  function slack(body: string): object {
    const { channel } = JSON.parse(body) as { readonly channel: string }
    const ts = `${Math.floor(Date.now() / 1000)}.000100`
    const item = { type: 'message', channel, ts }
    const event = { type: 'reaction_added', user: 'U0000001', reaction: 'tada', item, event_ts: ts }
    const said = JSON.stringify({ type: 'event_callback', event_id: 'Ev1', event_time: 1, event })
    const at = String(Math.floor(Date.now() / 1000))
    const signature = createHmac('sha256', shared.slackSigningSecret).update(`v0:${at}:${said}`)
    report(shared.slackReceipts(), said, {
      'content-type': JSON_TYPE,
      'x-slack-request-timestamp': at,
      'x-slack-signature': `v0=${signature.digest('hex')}`,
    })
    return { ok: true, channel, ts }
  }

  function whatsapp(body: string): object {
    const message = JSON.parse(body) as { readonly to: string; readonly biz_opaque_callback_data: string }
    const id = 'wamid.1'
    const status = {
      id,
      status: 'delivered',
      timestamp: String(Math.floor(Date.now() / 1000)),
      recipient_id: message.to,
      biz_opaque_callback_data: message.biz_opaque_callback_data,
    }
    const change = { field: 'messages', value: { messaging_product: 'whatsapp', statuses: [status] } }
    const said = JSON.stringify({ object: 'whatsapp_business_account', entry: [{ changes: [change] }] })
    const signature = createHmac('sha256', shared.metaAppSecret).update(said).digest('hex')
    report(shared.whatsappReceipts(), said, {
      'content-type': JSON_TYPE,
      'x-hub-signature-256': `sha256=${signature}`,
    })
    return { messaging_product: 'whatsapp', messages: [{ id }] }
  }

  function answerTo(path: string, body: string): object {
    if (path.endsWith('/Messages.json')) return twilio(body)
    if (path.endsWith('/chat.postMessage')) return slack(body)
    if (path.endsWith('/messages')) return whatsapp(body)
    if (path.endsWith('/sendMessage')) return { ok: true, result: { message_id: 1, chat: { id: -1001 } } }
    if (path.startsWith('/api/webhooks/')) return { id: '1' }
    if (path.endsWith('/token')) return { access_token: 'a-token', expires_in: 3_599, token_type: 'Bearer' }
    if (path.endsWith('/messages:send')) return { name: 'projects/demo/messages/1' }
    return { received: true }
  }

  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) body += chunk
    const { pathname } = new URL(request.url ?? '/', 'http://localhost')
    const status = pathname.endsWith('/Messages.json') ? 201 : 200
    response.writeHead(status, { 'content-type': JSON_TYPE })
    response.end(JSON.stringify(answerTo(pathname, body)))
  }

  const server = createServer((request, response) => {
    answer(request, response).catch((error: unknown) => response.destroy(error as Error))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    async close() {
      await Promise.all(reports)
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
