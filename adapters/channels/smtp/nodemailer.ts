import type { Socket } from 'node:net'
import type { Readable } from 'node:stream'
import { loadPeer } from '../../peer/load-peer.ts'

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
  return (await load(() => import('nodemailer'))) as Nodemailer
}

/** @throws NotifierError `missing_peer` */
export async function loadEncoders(): Promise<Encoders> {
  const [mime, quotedPrintable] = await Promise.all([
    load(() => import('nodemailer/lib/mime-funcs/index.js')),
    load(() => import('nodemailer/lib/qp/index.js')),
  ])
  return {
    mime: mime as Encoders['mime'],
    quotedPrintable: quotedPrintable as Encoders['quotedPrintable'],
  }
}

/** The package is CommonJS before version 10. */
async function load(from: () => Promise<object>): Promise<unknown> {
  const module: { readonly default?: unknown } = await loadPeer('nodemailer', from)
  return module.default ?? module
}
