import { useSignal } from '@preact/signals'
import { hrefOf, navigate } from '../../app/router.ts'
import { inOrganization, may, overAll } from '../../app/session.ts'
import { useList } from '../../app/use-list.ts'
import { texts } from '../../texts/index.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { type Column, List } from '../../ui/list.tsx'
import { Page } from '../../ui/page.tsx'
import { SecretDialog } from '../../ui/secret.tsx'
import { Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import type { CreatedEndpoint, Endpoint } from './endpoint.ts'
import { EndpointForm } from './endpoint-form.tsx'
import { EndpointStatus } from './endpoint-status.tsx'

const said = texts.webhooks

const COLUMNS: readonly Column<Endpoint>[] = [
  {
    title: said.url,
    main: true,
    cell: ({ id, url }) => <a href={hrefOf(inOrganization(`/webhooks/${id}`))}>{url}</a>,
  },
  { title: said.status, cell: (endpoint) => <EndpointStatus of={endpoint} /> },
  { title: said.lastAttempt, cell: (endpoint) => <LastAttempt of={endpoint} /> },
  { title: said.events, cell: ({ events }) => events.length },
  { title: said.created, cell: ({ createdAt }) => <Time at={createdAt} style="short" /> },
]

function LastAttempt({ of: { lastAttempt } }: { readonly of: Endpoint }) {
  if (lastAttempt === null) return <span class="muted">{texts.time.never}</span>
  const { succeeded, status, timestamp } = lastAttempt
  return (
    <span class="standing">
      <Badge tone={succeeded ? 'good' : 'bad'}>{status === null ? said.noAnswer : String(status)}</Badge>
      <span class="muted">
        <Time at={timestamp} />
      </span>
    </span>
  )
}

export function WebhooksPage() {
  const endpoints = useList<Endpoint>('/v1/webhooks')
  const creating = useSignal(false)
  const created = useSignal<CreatedEndpoint | null>(null)
  const mayChange = may('Full Access')
  const create = (
    <Button
      kind="primary"
      icon="plus"
      onClick={() => {
        creating.value = true
      }}
    >
      {said.create}
    </Button>
  )
  const made = created.value
  return (
    <Page
      title={said.title}
      intro={overAll.value ? said.introOverAll : said.intro}
      actions={mayChange ? create : undefined}
    >
      <List
        label={said.title}
        state={endpoints}
        columns={COLUMNS}
        empty={
          <Empty icon="webhooks" title={said.empty}>
            <p>{mayChange ? said.emptyHint : texts.permission.needs('Full Access')}</p>
            {mayChange ? create : null}
          </Empty>
        }
      />
      {creating.value ? (
        <EndpointForm
          onClose={() => {
            creating.value = false
          }}
          onSaved={(endpoint) => {
            creating.value = false
            created.value = endpoint
          }}
        />
      ) : null}
      {made === null ? null : (
        <SecretDialog
          title={said.secretTitle}
          hint={said.secretHint}
          label={said.secret}
          secret={made.secret}
          onDone={() => void navigate(inOrganization(`/webhooks/${made.id}`))}
        />
      )}
    </Page>
  )
}
