import type { AddressInfo } from 'node:net'
import { simpleParser } from 'mailparser'
import { SMTPServer } from 'smtp-server'

export interface ReceivedMail {
  /** Recipient of the envelope. */
  readonly to: string
  readonly subject: string
  readonly text: string
  /** Empty: no HTML part. */
  readonly html: string
}

export interface Inbox {
  readonly port: number
  close(): Promise<void>
}

/**
 * A local mail server. It accepts every message except to addresses that begin with `bounce`, which it refuses like
 * unknown mailboxes.
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
  // A client that disconnects must not end the server.
  server.on('error', () => {})
  const port = await new Promise<number>((resolve, reject) => {
    server.server.once('error', reject)
    server.listen(0, '127.0.0.1', () => resolve((server.server.address() as AddressInfo).port))
  })
  return { port, close: () => new Promise((resolve) => server.close(resolve)) }
}
