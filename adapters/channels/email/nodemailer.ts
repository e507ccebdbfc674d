import { loadPeer } from '../peer.ts'

/** The part of nodemailer (7 to 10) that is used; typed here so that no declaration of ours needs the package. */
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
}

export interface SentInfo {
  readonly messageId?: string
  /** The id that a server is known to have put in place of ours (nodemailer 10.6). */
  readonly serverMessageId?: string
  readonly response?: string
}

/** A mail between composing and sending, as plug-ins of nodemailer see it. */
export interface ComposedMail {
  readonly data: Readonly<Record<string, unknown>>
  message: { createReadStream(...args: unknown[]): ContentStream }
}

export interface ContentStream {
  /** True once a byte was taken: the server has agreed to DATA. */
  readonly readableDidRead?: boolean
}

/** @throws NotifierError `missing_peer` */
export async function loadNodemailer(): Promise<Nodemailer> {
  const module: { readonly default?: unknown } = await loadPeer('nodemailer', () => import('nodemailer'))
  return (module.default ?? module) as Nodemailer
}
