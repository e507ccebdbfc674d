import { createServer, type IncomingMessage, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import type { NotificationEvent } from 'carillon'
import { Webhook, WebhookVerificationError } from 'standardwebhooks'

export interface Receiver {
  readonly url: string
  /** The endpoint's signing secret, once known. */
  secret: string | undefined
  close(): Promise<void>
}

/**
 * Receives webhook events like a customer's server and verifies them with an independent library.
 *
 * @param port preferred port, where waiting events of an earlier run arrive; another one if it is taken
 */
export async function startReceiver(
  port: number,
  received: (event: NotificationEvent) => void,
  refused: (reason: string) => void,
): Promise<Receiver> {
  const receiver = { url: '', secret: undefined as string | undefined, close }
  const server = createServer((request, response) => {
    answer(request).then((status) => response.writeHead(status).end(), refused)
  })

  async function answer(request: IncomingMessage): Promise<number> {
    const body = await text(request)
    if (receiver.secret === undefined) return 503
    try {
      const headers = request.headers as Record<string, string>
      received(new Webhook(receiver.secret).verify(body, headers) as NotificationEvent)
      return 200
    } catch (error) {
      if (!(error instanceof WebhookVerificationError)) throw error
      refused(error.message)
      return 401
    }
  }

  function close(): Promise<void> {
    return new Promise((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  }

  await listen(server, port).catch(() => listen(server, 0))
  receiver.url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/events`
  return receiver
}

/** Listens on this machine only. */
export function listen(server: Server, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(port, '127.0.0.1', () => {
      server.off('error', reject)
      resolve()
    })
  })
}
