import type { AddressInfo } from 'node:net'
import { simpleParser } from 'mailparser'
import { SMTPServer } from 'smtp-server'

export interface ReceivedMail {
  /** The recipient of the envelope. */
  readonly to: string
  readonly subject: string
  readonly text: string
  /** Empty: there is none. */
  readonly html: string
}

export interface Inbox {
  readonly port: number
  close(): Promise<void>
}

/**
 * Stands in for the operator's mail server: takes every message, except those to an address that begins with
 * `bounce`, which it refuses as a real server refuses an unknown mailbox.
 */
export async function startInbox(received: (mail: ReceivedMail) => void): Promise<Inbox> {
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    closeTimeout: 1_000,
    onRcptTo({ address }, _session, callback) {
      if (!address.startsWith('bounce')) return callback()
      callback(Object.assign(new Error('5.1.1 No such mailbox here'), { responseCode: 550 }))
    },
    onData(stream, session, callback) {
      simpleParser(stream)
        .then((mail) => {
          const to = session.envelope.rcptTo.map(({ address }) => address).join(', ')
          received({ to, subject: mail.subject ?? '', text: mail.text ?? '', html: mail.html || '' })
          callback()
        })
        .catch(callback)
    },
  })
  // A client that goes away in the middle is no reason for a mail server to end.
  server.on('error', () => {})
  const port = await new Promise<number>((resolve, reject) => {
    server.server.once('error', reject)
    server.listen(0, '127.0.0.1', () => resolve((server.server.address() as AddressInfo).port))
  })
  return { port, close: () => new Promise((resolve) => server.close(resolve)) }
}
