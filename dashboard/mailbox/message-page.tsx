import { hrefOf } from '../app/router.ts'
import { useData } from '../app/use-data.ts'
import { texts } from '../texts/index.ts'
import { LongText } from '../ui/long-text.tsx'
import { MessageView, type ShownMessage } from '../ui/message-view.tsx'
import { Page } from '../ui/page.tsx'
import { ErrorNote, Loading } from '../ui/states.tsx'
import type { Tab } from '../ui/tabs.tsx'
import { Time } from '../ui/time.tsx'

const said = texts.mailbox
const size = new Intl.NumberFormat(undefined, { style: 'unit', unit: 'byte', unitDisplay: 'long' })

interface Message extends ShownMessage {
  readonly id: string
  readonly channel: string
  readonly to: string
  readonly caughtAt: string
  readonly notificationId: string
  readonly organizationId: string
  readonly links: readonly string[]
  readonly files: readonly {
    readonly filename: string
    readonly contentType: string
    readonly size: number
  }[]
  /** True: it is a mail. */
  readonly mail: boolean
}

export function MessagePage({ id }: { readonly id: string }) {
  // A message never changes.
  const { value, error, reload } = useData<Message>(`/api/messages/${id}`, { everyMs: 0 })
  const back = (
    <a class="button plain" href={hrefOf('/')}>
      {said.back}
    </a>
  )
  if (value === null) {
    return (
      <Page title={said.one} actions={back}>
        {error === null ? <Loading /> : <ErrorNote error={error} retry={reload} />}
      </Page>
    )
  }
  return (
    <Page title={value.subject || said.noSubject} actions={back}>
      <Facts of={value} />
      <MessageView
        message={{ ...value, subject: null }}
        name={`message-${id}`}
        caught={id}
        more={tabsOf(value)}
      />
    </Page>
  )
}

function Facts({ of }: { readonly of: Message }) {
  return (
    <dl class="facts two card">
      <dt>{said.to}</dt>
      <dd class="long">{of.to}</dd>
      <dt>{said.channel}</dt>
      <dd>{of.channel}</dd>
      <dt>{said.caught}</dt>
      <dd>
        <Time at={of.caughtAt} style="full" />
      </dd>
      <dt>{said.notification}</dt>
      <dd>
        <code>{of.notificationId}</code>
      </dd>
      <dt>{said.organization}</dt>
      <dd>
        <code>{of.organizationId}</code>
      </dd>
    </dl>
  )
}

function tabsOf(message: Message): readonly Tab<string>[] {
  const { id, links, files, mail } = message
  return [
    ...(links.length === 0
      ? []
      : [{ name: 'links', label: said.links, content: () => <Links links={links} /> }]),
    ...(files.length === 0
      ? []
      : [{ name: 'files', label: said.files, content: () => <Files of={message} /> }]),
    ...(mail ? [{ name: 'mail', label: said.mail, content: () => <Source id={id} /> }] : []),
  ]
}

function Links({ links }: { readonly links: readonly string[] }) {
  return (
    <>
      <p class="hint">{said.linksHint}</p>
      <ul>
        {links.map((link) => (
          <li key={link} class="long">
            <a href={link} target="_blank" rel="noopener noreferrer">
              {link}
            </a>
          </li>
        ))}
      </ul>
    </>
  )
}

function Files({ of: { id, files } }: { readonly of: Message }) {
  return (
    <ul>
      {files.map(({ filename, size: bytes }, index) => (
        <li key={filename} class="long">
          <a href={hrefOf(`/api/messages/${id}/files/${index}`)} download={filename}>
            {said.file(filename, size.format(bytes))}
          </a>
        </li>
      ))}
    </ul>
  )
}

function Source({ id }: { readonly id: string }) {
  const { value, error, reload } = useData<{ readonly source: string }>(`/api/messages/${id}/source`, {
    everyMs: 0,
  })
  if (value === null) return error === null ? <Loading /> : <ErrorNote error={error} retry={reload} />
  return <LongText text={value.source} name={`message-${id}`} type="eml" />
}
