import type { Readable } from 'node:stream'
import type { Steps } from '../../../src/core/loop/steps.ts'
import type { SendContext } from '../../../src/core/ports/provider.ts'
import { openSocket } from '../../../src/outgoing/open-socket.ts'
import type { MailContent } from '../kit/mail/mail-content.ts'
import { type SmtpError, toSmtpError } from './errors.ts'
import { composeMail, type Mail } from './mime.ts'
import { mimeLength, mimeStream } from './mime-stream.ts'
import {
  type ComposedMail,
  loadEncoders,
  loadNodemailer,
  type ProxyHandler,
  type SentInfo,
  type Transporter,
} from './nodemailer.ts'
import type { ResolvedSmtpOptions } from './options.ts'

/** A pool of connections to one server. */
export interface SmtpTransport {
  /** @throws Error if no mail can be made of the content */
  compose(content: MailContent): Steps<Mail>
  /** Sends one mail. Never rejects. Ends soon after the signal aborts. */
  deliver(mail: Mail, context: SendContext): Promise<Delivery>
  /** Connects and logs in. */
  verify(): Promise<void>
  close(): void
}

/** A recipient that the server refused while it took the mail for others. */
export interface RefusedRecipient {
  readonly address: string
  readonly error: SmtpError
}

export type Delivery =
  | { readonly kind: 'sent'; readonly info: SentInfo; readonly refused: readonly RefusedRecipient[] }
  | {
      readonly kind: 'failed'
      readonly error: SmtpError
      /** True: the server may have the message. */
      readonly contentSent: boolean
    }

/** @throws NotifierError `missing_peer` */
export async function openTransport(options: ResolvedSmtpOptions): Promise<SmtpTransport> {
  const [nodemailer, encoders] = await Promise.all([loadNodemailer(), loadEncoders()])
  const transporter = nodemailer.createTransport(transportOptions(options))
  // A failing idle connection must not end the process. The next mail on it reports the error.
  transporter.on('error', () => {})
  transporter.use('stream', sendAsItIs)
  const closing = new AbortController()
  const connect = throughProxy(options, closing.signal)
  transporter.set('proxy_handler_http', connect)
  transporter.set('proxy_handler_https', connect)
  return {
    compose: (content) => composeMail(content, encoders),
    deliver: (mail, context) => deliver(transporter, mail, context),
    async verify() {
      await transporter.verify()
    },
    close() {
      closing.abort()
      transporter.close()
    },
  }
}

function transportOptions(options: ResolvedSmtpOptions): Readonly<Record<string, unknown>> {
  const { host, port, secure, auth, proxy, tls, clientName, timeouts } = options
  return {
    pool: true,
    maxConnections: options.maxConnections,
    maxMessages: options.maxMessages,
    // The engine counts and repeats attempts.
    maxRequeues: 0,
    host,
    port,
    secure,
    requireTLS: options.requireTls,
    ...(auth === null ? {} : { auth: { user: auth.user, pass: auth.pass } }),
    ...(tls === null ? {} : { tls }),
    ...(proxy === null ? {} : { proxy: proxy.href }),
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

/** Instead of nodemailer's own client, whose errors differ by version. */
function throughProxy(
  { host, port, proxy, timeouts }: ResolvedSmtpOptions,
  signal: AbortSignal,
): ProxyHandler {
  const origin = { host, port, secure: false }
  const options = { guard: null, timeoutMs: timeouts.connectMs }
  return (_, __, done) => {
    openSocket(origin, proxy, options, signal).then((connection) => done(null, { connection }), done)
  }
}

/** Passes our stream to the connection: nodemailer's transforms would read it too early. */
function sendAsItIs({ data, message }: ComposedMail, done: () => void): void {
  message.createReadStream = () => {
    data.onConnection()
    // nodemailer before 10.5 continues with an aborted mail; after DATA it would wait for content that never comes. It
    // refuses an empty text before it contacts the server.
    return data.raw.destroyed ? '' : data.raw
  }
  done()
}

/**
 * Servers close connections after a number of mails. A mail that hits a closed connection moves to another one. That
 * does not count as an attempt, and is no fault of the server. Each time, the pool loses one old connection.
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
    // Objects, because a hostile recipient given as text could be parsed as a list or a group.
    envelope: {
      from: { name: '', address: mail.from },
      to: [mail.to, ...mail.copies].map((address) => ({ name: '', address })),
      // Declared, so that a server with a lower limit refuses at MAIL instead of breaking off within the content.
      size: mimeLength(mail.pieces),
    },
    maxRecipients: 1 + mail.copies.length,
    messageId: mail.messageId,
    raw: content,
    onConnection() {
      connected = true
    },
    signal,
  })
  // nodemailer before 10.5 ignores the signal. The end of an aborted mail stays unknown there.
  const abandons = transporter.transporter?.supportsAbortSignal !== true
  try {
    const info = await (abandons ? orAborted(sending, content, signal) : sending)
    // An acceptance before the end of the content does not concern a complete mail.
    if (!content.readableEnded) return { kind: 'failed', error: answeredEarly(info), contentSent: true }
    const refused = refusalsIn(info)
    const fault = refused.find(({ address }) => address === mail.to)
    if (fault !== undefined) return { kind: 'failed', error: fault.error, contentSent: false }
    return { kind: 'sent', info, refused }
  } catch (error) {
    const failure = refusalsIn(error).find(({ address }) => address === mail.to)?.error ?? toSmtpError(error)
    // nodemailer 10.6 reports every connection end with the command `CONN`, so its errors do not tell whether the mail
    // was sent. The content is read only after the server has agreed to DATA, and never once it is destroyed.
    const contentSent = content.readableDidRead
    if (connected && !contentSent && !signal.aborted && isOldConnections(failure)) return 'connection ended'
    return { kind: 'failed', error: failure, contentSent }
  } finally {
    // After an early answer nodemailer would send the rest of the content and the next mail's commands within it. The
    // server discards an incomplete mail.
    content.destroy()
  }
}

/** The server's replies to RCPT that refuse a recipient. */
function refusalsIn(answer: unknown): readonly RefusedRecipient[] {
  const { rejectedErrors } = Object(answer) as { readonly rejectedErrors?: unknown }
  if (!Array.isArray(rejectedErrors)) return []
  return rejectedErrors.map((error: { readonly recipient?: unknown }) => ({
    address: String(error.recipient),
    error: toSmtpError(error),
  }))
}

/** The error of nodemailer's pool (10.6) for a reused connection that ended before anything was sent. */
function isOldConnections({ code, command, response }: SmtpError): boolean {
  return code === 'ECONNECTION' && command === undefined && response === undefined
}

function answeredEarly({ response = '' }: SentInfo): SmtpError {
  return { message: `The server answered before the end of the mail: ${response}`, code: 'EPROTOCOL' }
}

function orAborted<Value>(promise: Promise<Value>, content: Readable, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const onAbort = () => {
      reject(Object.assign(new Error('Message sending aborted'), { code: 'EABORT' }))
      // An error makes nodemailer close the connection. Otherwise the next mail would wait behind an endless one.
      content.on('error', () => {}).destroy(new Error('Message sending aborted'))
    }
    signal.addEventListener('abort', onAbort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}
