import { type Signal, useSignal } from '@preact/signals'
import { texts } from '../texts/index.ts'
import { HtmlPreview } from './html-preview.tsx'
import { JsonView, LongText } from './long-text.tsx'
import { type Mail, MailHead } from './mail-head.tsx'
import { type Tab, Tabs } from './tabs.tsx'

const said = texts.message

export interface ShownMessage {
  readonly subject: string | null
  readonly body: string
  readonly format: 'text' | 'html'
  readonly text?: string | undefined
  /** What the message carries besides its text. */
  readonly parts: object
}

const IMAGE = /^image\/(?:png|jpe?g|gif|webp|avif|svg\+xml)$/
const BASE64 = /^[A-Za-z0-9+/=]+$/

/** The HTML with those inline images that the message has. */
function withImages(html: string, parts: object): string {
  const { email } = parts as { readonly email?: Mail }
  const images = new Map((email?.attachments ?? []).map((file) => [file.cid, file]))
  return html.replace(/(\ssrc\s*=\s*["']?)cid:([\w.+@-]+)/gi, (whole, before: string, cid: string) => {
    const { contentType = '', content = '' } = images.get(cid) ?? {}
    return IMAGE.test(contentType) && BASE64.test(content)
      ? `${before}data:${contentType};base64,${content}`
      : whole
  })
}

/** A message as its recipient gets it. */
export function MessageView({
  message: { subject, body, format, text, parts },
  name,
  caught,
  more = [],
  view: given,
}: {
  readonly message: ShownMessage
  /** Of files that are kept. */
  readonly name: string
  /** Its id in the mailbox, which has the images of its HTML. */
  readonly caught?: string
  readonly more?: readonly Tab<string>[]
  /** The tab that is open, where it outlives this view. */
  readonly view?: Signal<string | null>
}) {
  const own = useSignal<string | null>(null)
  const view = given ?? own
  const source =
    caught === undefined ? { value: withImages(body, parts) } : { field: 'message' as const, value: caught }
  const html: readonly Tab<string>[] = [
    { name: 'html', label: said.html, content: () => <HtmlPreview {...source} title={said.html} /> },
    {
      name: 'text',
      label: said.text,
      content: () => (text === undefined ? <p>{said.madeOfHtml}</p> : <LongText text={text} name={name} />),
    },
    { name: 'source', label: said.source, content: () => <LongText text={body} name={name} type="html" /> },
  ]
  const plain = { name: 'text', label: said.text, content: () => <LongText text={body} name={name} /> }
  const { email, ...others } = parts as { readonly email?: Mail }
  // The mailbox shows the head of a mail itself.
  const data = caught === undefined ? others : parts
  const carried = {
    name: 'parts',
    label: said.parts,
    content: () => <JsonView value={data} name={name} />,
  }
  const tabs: readonly Tab<string>[] = [
    ...(format === 'html' ? html : [plain]),
    ...(Object.keys(data).length === 0 ? [] : [carried]),
    ...more,
  ]
  return (
    <div class="part">
      {subject === null ? null : <h3 class="long">{subject}</h3>}
      {email === undefined || caught !== undefined ? null : <MailHead of={email} />}
      <Tabs
        label={said.label}
        tabs={tabs}
        value={view.value ?? tabs[0]?.name ?? 'text'}
        onValue={(name) => {
          view.value = name
        }}
      />
    </div>
  )
}
