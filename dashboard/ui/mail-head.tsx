import type { ComponentChildren } from 'preact'
import { texts } from '../texts/index.ts'
import { size } from './number.ts'

const said = texts.message.mail

/** What a mail has besides its text, as the REST API shows it. */
export interface Mail {
  readonly from?: Mailbox
  readonly replyTo?: readonly Mailbox[]
  readonly cc?: readonly Mailbox[]
  readonly bcc?: readonly Mailbox[]
  readonly headers?: Readonly<Record<string, string>>
  readonly attachments?: readonly AttachedFile[]
  readonly calendar?: { readonly method: string }
  readonly unsubscribe?: boolean
  readonly inReplyTo?: string
}

interface Mailbox {
  readonly address: string
  readonly name?: string
}

export interface AttachedFile {
  readonly filename: string
  readonly contentType: string
  readonly size: number
  readonly cid?: string
  /** In base64. Absent: it is not part of the answer. */
  readonly content?: string
}

/** Who a mail is from, who answers go to, and what it carries. */
export function MailHead({ of: mail }: { readonly of: Mail }) {
  const { from, replyTo = [], cc = [], bcc = [], headers = {}, attachments = [] } = mail
  return (
    <dl class="facts card">
      <dt>{said.from}</dt>
      <dd>{from === undefined ? <span class="muted">{said.defaultSender}</span> : written(from)}</dd>
      <Row title={said.replyTo}>{replyTo.map(written).join(', ')}</Row>
      <Row title={said.cc}>{cc.map(written).join(', ')}</Row>
      <Row title={said.bcc}>{bcc.map(written).join(', ')}</Row>
      <Row title={said.attachments}>
        {attachments.length === 0
          ? null
          : attachments.map((file) => (
              <div key={`${file.filename} ${file.cid ?? ''}`}>
                {file.filename}{' '}
                <span class="muted">
                  {[
                    file.contentType,
                    size(file.size),
                    ...(file.cid === undefined ? [] : [said.inline(file.cid)]),
                  ].join(', ')}
                </span>
              </div>
            ))}
      </Row>
      <Row title={said.calendar}>{mail.calendar?.method ?? null}</Row>
      <Row title={said.unsubscribe}>{mail.unsubscribe === true ? said.oneClick : null}</Row>
      <Row title={said.inReplyTo}>{mail.inReplyTo ?? null}</Row>
      <Row title={said.headers}>
        {Object.keys(headers).length === 0
          ? null
          : Object.entries(headers).map(([name, value]) => (
              <div key={name}>
                <code>
                  {name}: {value}
                </code>
              </div>
            ))}
      </Row>
    </dl>
  )
}

function Row({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  if (children === null || children === '') return null
  return (
    <>
      <dt>{title}</dt>
      <dd>{children}</dd>
    </>
  )
}

function written({ address, name }: Mailbox): string {
  return name === undefined || name === '' ? address : `${name} <${address}>`
}
