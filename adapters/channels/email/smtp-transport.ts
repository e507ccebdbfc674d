import type { Mail } from './mail.ts'
import {
  type ComposedMail,
  type ContentStream,
  loadNodemailer,
  type SentInfo,
  type Transporter,
} from './nodemailer.ts'
import { type SmtpError, toSmtpError } from './smtp-errors.ts'
import type { ResolvedSmtpOptions } from './smtp-options.ts'

/** A pool of connections to one server. */
export interface SmtpTransport {
  /** Sends one mail; never rejects. Ends soon after `signal` aborts. */
  deliver(mail: Mail, signal: AbortSignal): Promise<Delivery>
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

/** Key in a mail's data under which its progress travels through nodemailer. */
const PROGRESS = 'carillonProgress'

interface Progress {
  /** The composed mail, once the connection has asked for it. */
  content?: ContentStream
}

/** @throws NotifierError `missing_peer` */
export async function openTransport(options: ResolvedSmtpOptions): Promise<SmtpTransport> {
  const nodemailer = await loadNodemailer()
  const transporter = nodemailer.createTransport(transportOptions(options))
  // A failing idle connection must not end the process; the mail that meets it reports it.
  transporter.on('error', () => {})
  transporter.use('stream', watchContent)
  return {
    deliver: (mail, signal) => deliver(transporter, mail, signal),
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

/**
 * Notes when the content begins to flow. nodemailer reports the end of a connection with the command `CONN`
 * whatever was under way (10.6), so that its errors alone cannot tell a mail that never left from one that may
 * have arrived. The content is read only after the server has agreed to DATA.
 */
function watchContent({ data, message }: ComposedMail, done: () => void): void {
  const progress = data[PROGRESS] as Progress | undefined
  if (progress !== undefined) {
    const create = message.createReadStream.bind(message)
    message.createReadStream = (...args) => {
      const content = create(...args)
      progress.content = content
      return content
    }
  }
  done()
}

async function deliver(transporter: Transporter, mail: Mail, signal: AbortSignal): Promise<Delivery> {
  const progress: Progress = {}
  const sending = transporter.sendMail({ ...mail, signal, [PROGRESS]: progress })
  // nodemailer before 10.5 knows no signal: there the mail goes on, and nobody will hear how it ends.
  const abandons = transporter.transporter?.supportsAbortSignal !== true
  try {
    return { kind: 'sent', info: await (abandons ? orAborted(sending, signal) : sending) }
  } catch (error) {
    const failure = toSmtpError(error)
    const contentSent = progress.content?.readableDidRead === true || (abandons && failure.code === 'EABORT')
    return { kind: 'failed', error: failure, contentSent }
  }
}

function orAborted<Value>(promise: Promise<Value>, signal: AbortSignal): Promise<Value> {
  return new Promise((resolve, reject) => {
    const onAbort = () => reject(Object.assign(new Error('Message sending aborted'), { code: 'EABORT' }))
    signal.addEventListener('abort', onAbort, { once: true })
    promise.then(resolve, reject).finally(() => signal.removeEventListener('abort', onAbort))
  })
}
