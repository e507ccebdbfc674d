import { signal } from '@preact/signals'
import { hrefOf } from '../app/router.ts'
import { useData } from '../app/use-data.ts'
import { texts } from '../texts/index.ts'
import { Badge } from '../ui/badge.tsx'
import { Button } from '../ui/button.tsx'
import { filtersOf } from '../ui/filters.tsx'
import { Icon } from '../ui/icon.tsx'
import { LongText } from '../ui/long-text.tsx'
import { MessageView, type ShownMessage } from '../ui/message-view.tsx'
import { Page } from '../ui/page.tsx'
import { ErrorNote, Loading } from '../ui/states.tsx'
import type { Tab } from '../ui/tabs.tsx'
import { Time } from '../ui/time.tsx'
import { EVERY_MS, FILTERS } from './messages-page.tsx'

const said = texts.mailbox
const size = new Intl.NumberFormat(undefined, { style: 'unit', unit: 'byte', unitDisplay: 'long' })

interface Warning {
  readonly severity: 'error' | 'warning'
  readonly message: string
  readonly field: string
  readonly excerpt?: string
}

interface Message extends ShownMessage {
  readonly id: string
  readonly channel: string
  readonly to: string
  readonly caughtAt: string
  readonly notificationId: string
  readonly organizationId: string
  /** Null: no mail. */
  readonly head: {
    readonly from: string | null
    readonly replyTo: readonly string[]
    readonly cc: readonly string[]
    readonly bcc: readonly string[]
  } | null
  readonly warnings: readonly Warning[]
  readonly links: readonly string[]
  readonly files: readonly {
    readonly filename: string
    readonly contentType: string
    readonly size: number
  }[]
  /** True: it is a mail. */
  readonly mail: boolean
}

/** The open tab stays open from one message to the next. */
const view = signal<string | null>(null)

export function MessagePage({ id }: { readonly id: string }) {
  // A message never changes.
  const { value, error, reload } = useData<Message>(`/api/messages/${id}`, { everyMs: 0 })
  const actions = <Neighbours id={id} />
  if (value === null || value.id !== id) {
    return (
      <Page title={said.one} actions={actions}>
        {error === null ? <Loading /> : <ErrorNote error={error} retry={reload} />}
      </Page>
    )
  }
  return (
    <Page title={value.subject || said.noSubject} actions={actions}>
      <Facts of={value} />
      <MessageView
        key={id}
        message={{ ...value, subject: null }}
        name={`message-${id}`}
        caught={id}
        more={tabsOf(value)}
        view={view}
      />
    </Page>
  )
}

interface Place {
  readonly newer: string | null
  readonly older: string | null
  /** From 1. Null: the list does not have it. */
  readonly place: number | null
  readonly count: number
}

/** Leads to the list, and to the messages before and after this one in it. */
function Neighbours({ id }: { readonly id: string }) {
  const query = filtersOf(FILTERS)
  const { value } = useData<Place>(`/api/messages/${id}/neighbours`, { query, everyMs: EVERY_MS })
  return (
    <nav class="neighbours" aria-label={said.title}>
      <a class="button plain" href={hrefOf('/', query)}>
        {said.back}
      </a>
      {value === null || value.place === null ? null : (
        <span class="muted">{said.place(value.place, value.count)}</span>
      )}
      <Step to={value?.newer ?? null} icon="left" label={said.newer} />
      <Step to={value?.older ?? null} icon="right" label={said.older} />
    </nav>
  )
}

function Step({
  to,
  icon,
  label,
}: {
  readonly to: string | null
  readonly icon: 'left' | 'right'
  readonly label: string
}) {
  if (to === null) return <Button icon={icon} label={label} disabled />
  return (
    <a
      class="button plain icon-only"
      href={hrefOf(`/messages/${to}`, filtersOf(FILTERS))}
      aria-label={label}
      title={label}
    >
      <Icon name={icon} />
    </a>
  )
}

function Facts({
  of: { head, to, channel, caughtAt, notificationId, organizationId },
}: {
  readonly of: Message
}) {
  return (
    <dl class="facts card">
      {head === null ? null : (
        <>
          <dt>{said.from}</dt>
          <dd>{head.from ?? <span class="muted">{said.defaultSender}</span>}</dd>
        </>
      )}
      <Addresses title={said.to} of={[to]} />
      {head === null ? null : (
        <>
          <Addresses title={said.cc} of={head.cc} />
          <Addresses title={said.bcc} of={head.bcc} />
          <Addresses title={said.replyTo} of={head.replyTo} />
        </>
      )}
      <dt>{said.channel}</dt>
      <dd>{channel}</dd>
      <dt>{said.caught}</dt>
      <dd>
        <Time at={caughtAt} style="full" />
      </dd>
      <dt>{said.notification}</dt>
      <dd>
        <code>{notificationId}</code> <span class="muted">{said.inOrganization}</span>{' '}
        <code>{organizationId}</code>
      </dd>
    </dl>
  )
}

function Addresses({ title, of }: { readonly title: string; readonly of: readonly string[] }) {
  if (of.length === 0) return null
  return (
    <>
      <dt>{title}</dt>
      <dd>{of.join(', ')}</dd>
    </>
  )
}

function tabsOf(message: Message): readonly Tab<string>[] {
  const { id, links, files, mail, warnings } = message
  return [
    ...(warnings.length === 0
      ? []
      : [
          {
            name: 'warnings',
            label: said.warnings(warnings.length),
            content: () => <Warnings warnings={warnings} />,
          },
        ]),
    ...(links.length === 0
      ? []
      : [{ name: 'links', label: said.links, content: () => <Links links={links} /> }]),
    ...(files.length === 0
      ? []
      : [{ name: 'files', label: said.files, content: () => <Files of={message} /> }]),
    ...(mail ? [{ name: 'mail', label: said.mail, content: () => <Source id={id} /> }] : []),
  ]
}

function Warnings({ warnings }: { readonly warnings: readonly Warning[] }) {
  return (
    <ul class="warnings">
      {warnings.map(({ severity, message, field, excerpt }) => (
        <li key={`${field} ${message} ${excerpt}`}>
          <Badge tone={severity === 'error' ? 'bad' : 'warn'}>{said.severities[severity]}</Badge>
          <p>{message}</p>
          {excerpt === undefined ? null : <code>{excerpt}</code>}
        </li>
      ))}
    </ul>
  )
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
