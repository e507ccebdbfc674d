import { Agent, request } from 'node:http'
import type { Provider } from 'carillon'
import type { Outcome, SendContext } from 'carillon/provider-kit'

/** The example's provider over HTTP. It receives the notification's id and has no idempotency. */
export function sinkProvider(url: string): Provider {
  const agent = new Agent({ keepAlive: true })
  return {
    name: 'sink',
    maxConcurrent: 20,
    timeoutMs: 2_000,
    retry: { kind: 'exponential', maxAttempts: 20, baseMs: 200, capMs: 2_000 },
    send: ({ body }, context) => post(agent, url, body, context),
    close: () => agent.destroy(),
  }
}

function post(agent: Agent, url: string, body: string, context: SendContext): Promise<Outcome> {
  const { notificationId, signal } = context
  const headers = { 'x-notification-id': notificationId }
  return new Promise((resolve) => {
    const asked = request(url, { method: 'POST', agent, headers, signal }, (response) => {
      response.resume()
      response.on('end', () => resolve({ kind: 'accepted', providerMessageId: notificationId }))
    })
    // The request may have arrived, so the retry is marked.
    asked.on('error', (error) => resolve({ kind: 'ambiguous', reason: error.message }))
    asked.end(body)
  })
}
