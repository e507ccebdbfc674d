import type { Readable } from 'node:stream'
import type { Steps } from '../../../src/domain/steps.ts'
import type { SendContext } from '../../../src/ports/provider.ts'
import type { MailContent } from '../kit/mail/mail-content.ts'
import { type SmtpError, toSmtpError } from './errors.ts'
import { composeMail, type Mail } from './mime.ts'
import { mimeLength, mimeStream } from './mime-stream.ts'
import {
  type ComposedMail,
  loadEncoders,
  loadNodemailer,
  type SentInfo,
  type Transporter,
} from './nodemailer.ts'
import type { ResolvedSmtpOptions } from './options.ts'

/** A pool of connections to one server. */
export interface SmtpTransport {
  /** @throws Error when the content cannot be a mail */
  compose(content: MailContent): Steps<Mail>
  /** Sends one mail; never rejects. Ends soon after the signal aborts. */
  deliver(mail: Mail, context: SendContext): Promise<Delivery>
  /** Connects and logs in. */
  verify(): Promise<void>
  close(): void
}

export type Delivery =
  | { readonly kind: 'sent'; readonly info: SentInfo }
  | {
      readonly kind: 'failed'
      readonly error: SmtpError
      /** True when the server may have the message. */
      readonly contentSent: boolean
    }

/** @throws NotifierError `missing_peer` */
export async function openTransport(options: ResolvedSmtpOptions): Promise<SmtpTransport> {
  const [nodemailer, encoders] = await Promise.all([loadNodemailer(), loadEncoders()])
  const transporter = nodemailer.createTransport(transportOptions(options))
  // A failing idle connection must not end the process; the mail that meets it reports it.
  transporter.on('error', () => {})
  transporter.use('stream', sendAsItIs)
  return {
    compose: (content) => composeMail(content, encoders),
    deliver: (mail, context) => deliver(transporter, mail, context),
    async verify() {
      await transporter.verify()
    },
    close() {
      transporter.close()
    },
  }
}

function transportOptions(options: ResolvedSmtpOptions): Readonly<Record<string, unknown>> {
  const { host, port, secure, auth, tls, clientName, timeouts } = options
  return {
    pool: true,
    maxConnections: options.maxConnections,
    maxMessages: options.maxMessages,
    // A channel never retries by itself: the engine counts attempts.
    maxRequeues: 0,
    host,
    port,
    secure,
    requireTLS: options.requireTls,
    ...(auth === null ? {} : { auth: { user: auth.user, pass: auth.pass } }),
    ...(tls === null ? {} : { tls }),
    ...(clientName === null ? {} : { name: clientName }),
    dnsTimeout: timeouts.dnsMs,
    connectionTimeout: timeouts.connectMs,
    greetingTimeout: timeouts.greetingMs,
    socketTimeout: timeouts.socketMs,
    disableFileAccess: true,
    disableUrlAccess: true,
    logger: false,
  }
}

/** The connection reads our own stream: on the way through those of nodemailer it would be read before its time. */
function sendAsItIs({ data, message }: ComposedMail, done: () => void): void {
  message.createReadStream = () => {
    data.onConnection()
    // nodemailer before 10.5 goes on with a mail that was given up; after DATA it would wait for what never comes. An empty
    // text it refuses before it says anything to the server.
    return data.raw.destroyed ? '' : data.raw
  }
  done()
}

/**
 * Servers end connections that have carried as many mails as they like. The mail that meets such an end goes over another
 * connection: it is no attempt, and says nothing of the server. Each time the pool has one old connection less.
 */
async function deliver(transporter: Transporter, mail: Mail, context: SendContext): Promise<Delivery> {
  for (;;) {
    const end = await deliverOnce(transporter, mail, context)
    if (end !== 'connection ended') return end
  }
}

async function deliverOnce(
  transporter: Transporter,
  mail: Mail,
  { signal, runInSlices }: SendContext,
): Promise<Delivery | 'connection ended'> {
  let connected = false
  const content = mimeStream(mail.pieces, runInSlices)
  const sending = transporter.sendMail({
    // Given as text, a hostile recipient would be read as a list or a group, and the mail would follow that.
    envelope: {
      from: { name: '', address: mail.from },
      to: [{ name: '', address: mail.to }],
      // Sent to a server that announces less, it would be cut off in the midst of it, and nobody would know why.
      size: mimeLength(mail.pieces),
    },
    maxRecipients: 1,
    messageId: mail.messageId,
    raw: content,
    onConnection() {
      connected = true
    },
    signal,
  })
  // nodemailer before 10.5 knows no signal: there nobody will hear how the mail ends.
  const abandons = transporter.transporter?.supportsAbortSignal !== true
  try {
    const info = await (abandons ? orAborted(sending, content, signal) : sending)
    // Whatever a server takes before it has all of a mail is no mail.
    if (!content.readableEnded) return { kind: 'failed', error: answeredEarly(info), contentSent: true }
    return { kind: 'sent', info }
  } catch (error) {
    const failure = toSmtpError(error)
    // nodemailer reports the end of a connection with the command `CONN` whatever was under way (10.6), so that its errors
    // alone cannot tell a mail that never left from one that may have arrived. The content is read only after the server has
    // agreed to DATA, and never once it is destroyed.
    const contentSent = content.readableDidRead
    if (connected && !contentSent && !signal.aborted && isOldConnections(failure)) return 'connection ended'
    return { kind: 'failed', error: failure, contentSent }
  } finally {
    // nodemailer sends the rest after an early answer, and the commands of the next mail in the midst of it. A mail without
    // its end is thrown away by the server.
    content.destroy()
  }
}

/** Where nothing was sent over a connection that was not new, nodemailer's pool (10.6) gives an error of its own. */
function isOldConnections({ code, command, response }: SmtpError): boolean {
  return code === 'ECONNECTION' && command === undefined && response === undefined
}

function answeredEarly({ response = '' }: SentInfo): SmtpError {
  return { message: `The server answered before it had the whole mail: ${response}`, code: 'EPROTOCOL' }
}

function orAborted<Value>(promise: Promise<Value>, content: Readable, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      reject(Object.assign(new Error('Message sending aborted'), { code: 'EABORT' }))
      // At an error, into which it writes, nodemailer leaves the connection. There the next mail would wait behind one that
      // never ends.
      content.on('error', () => {}).destroy(new Error('Message sending aborted'))
    }
    signal.addEventListener('abort', onAbort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}
