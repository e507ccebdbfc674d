import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { type AddressObject, type ParsedMail, simpleParser } from 'mailparser'
import { SMTPServer, type SMTPServerOptions } from 'smtp-server'

/** A real mail server (the package smtp-server) with one inbox for everybody. */
export interface MailServer {
  readonly port: number
  readonly inbox: ReceivedMail[]
  /** Most connections open at one time. */
  readonly mostOpen: number
  close(): Promise<void>
}

export interface ReceivedMail {
  /** Of the envelope. */
  readonly from: string
  readonly to: readonly string[]
  readonly secure: boolean
  readonly user: string | undefined
  readonly source: string
  /** As mailparser understands it. */
  readonly parsed: ParsedMail
}

export async function startMailServer(options: SMTPServerOptions = {}): Promise<MailServer> {
  const inbox: ReceivedMail[] = []
  let mostOpen = 0
  const server = new SMTPServer({
    authOptional: true,
    disabledCommands: options.cert === undefined ? ['STARTTLS'] : [],
    disableReverseLookup: true,
    logger: false,
    onConnect(_session, callback) {
      mostOpen = Math.max(mostOpen, server.connections.size)
      callback()
    },
    onData(stream, session, callback) {
      const chunks: Buffer[] = []
      stream.on('data', (chunk: Buffer) => chunks.push(chunk))
      stream.on('end', () => {
        const source = Buffer.concat(chunks)
        const { mailFrom, rcptTo } = session.envelope
        simpleParser(source).then((parsed) => {
          inbox.push({
            from: mailFrom === false ? '' : mailFrom.address,
            to: rcptTo.map(({ address }) => address),
            secure: session.secure,
            user: session.user,
            source: source.toString('utf8'),
            parsed,
          })
          callback(null, 'queued')
        }, callback)
      })
    },
    ...options,
  })
  server.on('error', () => {})
  server.listen(0, '127.0.0.1')
  await once(server.server, 'listening')
  return {
    port: (server.server.address() as AddressInfo).port,
    inbox,
    get mostOpen() {
      return mostOpen
    },
    close: () => new Promise((resolve) => server.close(() => resolve())),
  }
}

/** Every address of a parsed header, in order. */
export function addresses(field: AddressObject | AddressObject[] | undefined): string[] {
  return [field ?? []].flat().flatMap(({ value }) => value.map(({ address }) => address ?? ''))
}
