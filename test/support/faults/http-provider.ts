import { Agent, request } from 'node:http'
import type { Provider, SendContext } from '../../../src/core/ports/provider.ts'
import type { Receipt } from '../../../src/core/ports/receipts.ts'

/** How the provider is asked. */
export interface HttpProviderOptions
  extends Partial<Pick<Provider, 'name' | 'timeoutMs' | 'maxConcurrent' | 'retry'>> {
  /** Port of this machine. */
  readonly port: number
}

/**
 * A provider over a real socket, which says in its answer what became of the message, and whose reports are JSON
 * lists of receipts.
 */
export function httpProvider({ port, name = 'http', ...rest }: HttpProviderOptions): Provider {
  const agent = new Agent({ keepAlive: true })
  return {
    name,
    timeoutMs: 5_000,
    ...rest,
    async send(message, context) {
      const answer = await post(agent, port, message.body, context)
      if (answer === null) return { kind: 'ambiguous', reason: 'No answer.' }
      if (answer.status === 200) return { kind: 'accepted', providerMessageId: answer.text }
      if (answer.status === 422) return { kind: 'rejected', code: 'mailbox_full', scope: 'recipient' }
      return { kind: 'retry', code: 'provider_error', scope: 'provider' }
    },
    async parseReceipts({ body }) {
      return { kind: 'receipts', receipts: JSON.parse(new TextDecoder().decode(body)) as Receipt[] }
    },
    close: () => agent.destroy(),
  }
}

function post(
  agent: Agent,
  port: number,
  body: string,
  { idempotencyKey, attempt, signal }: SendContext,
): Promise<{ readonly status: number; readonly text: string } | null> {
  const headers = { 'idempotency-key': idempotencyKey, 'x-attempt': attempt }
  return new Promise((resolve) => {
    const asked = request({ host: '127.0.0.1', port, method: 'POST', agent, headers, signal }, (response) => {
      let text = ''
      response.setEncoding('utf8')
      response.on('data', (chunk: string) => {
        text += chunk
      })
      response.on('error', () => resolve(null))
      response.on('end', () => resolve({ status: response.statusCode ?? 0, text }))
    })
    asked.on('error', () => resolve(null))
    asked.end(body)
  })
}
