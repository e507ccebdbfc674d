import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { peerFault } from '../../peer/peer-fault.ts'

/** The members in use of nodemailer 7 to 10, so that the declarations do not need the package. */
export interface Nodemailer {
  createTransport(options: Readonly<Record<string, unknown>>): Transporter
}

export interface Transporter {
  readonly transporter?: { readonly supportsAbortSignal?: boolean }
  sendMail(mail: Readonly<Record<string, unknown>>): Promise<SentInfo>
  use(step: 'stream', plugin: (mail: ComposedMail, done: (error?: Error) => void) => void): unknown
  verify(): Promise<unknown>
  close(): void
  on(event: 'error', listener: (error: Error) => void): unknown
  /** Replaces the way to connect through the proxies of a scheme. */
  set(handler: 'proxy_handler_http' | 'proxy_handler_https', connect: ProxyHandler): unknown
}

export type ProxyHandler = (
  proxy: object,
  options: { readonly host: string; readonly port: number },
  done: (error: unknown, socket?: { readonly connection: Socket }) => void,
) => void

export interface SentInfo {
  readonly messageId?: string
  /** Message id that a server is known to have substituted (nodemailer 10.6). */
  readonly serverMessageId?: string
  readonly response?: string
}

/** A mail between composition and sending, as plug-ins of nodemailer see it. */
export interface ComposedMail {
  readonly data: { readonly raw: Readable; readonly onConnection: () => void }
  message: { createReadStream(): unknown }
}

/** Encoding functions that behave equally in all versions. */
export interface Encoders {
  readonly mime: {
    /** Encoded words of RFC 2047, at most `length` characters each, separated by spaces. */
    encodeWord(text: string, encoding: 'Q', length: number): string
    /** Folds a line before its spaces. */
    foldLines(text: string, length: number): string
  }
  readonly quotedPrintable: {
    encode(text: string): string
    wrap(text: string, length: number): string
  }
}

/** @throws NotifierError `missing_peer` */
export async function loadNodemailer(): Promise<Nodemailer> {
  try {
    return withoutDefault(await import(/* turbopackOptional: true */ 'nodemailer')) as Nodemailer
  } catch (cause) {
    throw peerFault('nodemailer', cause)
  }
}

/** @throws NotifierError `missing_peer` */
export async function loadEncoders(): Promise<Encoders> {
  try {
    const mime: object = await import(/* turbopackOptional: true */ 'nodemailer/lib/mime-funcs/index.js')
    const quotedPrintable: object = await import(/* turbopackOptional: true */ 'nodemailer/lib/qp/index.js')
    return {
      mime: withoutDefault(mime) as Encoders['mime'],
      quotedPrintable: withoutDefault(quotedPrintable) as Encoders['quotedPrintable'],
    }
  } catch (cause) {
    throw peerFault('nodemailer', cause)
  }
}

/** The package is CommonJS before version 10. */
function withoutDefault(module: object): unknown {
  return 'default' in module ? module.default : module
}
