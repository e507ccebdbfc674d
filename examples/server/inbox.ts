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

/** What the mail server refuses, by the beginning of the address. */
const REFUSALS = [
  { beginning: 'bounce', responseCode: 550, text: '5.1.1 No such mailbox here' },
  { beginning: 'full', responseCode: 452, text: '4.2.2 The mailbox is full' },
  { beginning: 'spam', responseCode: 554, text: '5.7.1 The message looks like spam' },
]

/** A local mail server. It accepts every message but those to addresses that begin like one of its refusals. */
export async function startInbox(received: (mail: ReceivedMail) => void): Promise<Inbox> {
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: ['STARTTLS', 'AUTH'],
    closeTimeout: 1_000,
    onRcptTo({ address }, _session, callback) {
      const refusal = REFUSALS.find(({ beginning }) => address.startsWith(beginning))
      if (refusal === undefined) return callback()
      callback(Object.assign(new Error(refusal.text), { responseCode: refusal.responseCode }))
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
