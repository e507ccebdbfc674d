import { useData } from '../../app/use-data.ts'
import { texts } from '../../texts/index.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { type Column, Table } from '../../ui/list.tsx'
import { count } from '../../ui/number.ts'
import { OrganizationLink } from '../../ui/organization-link.tsx'
import { Page } from '../../ui/page.tsx'
import { ErrorNote, Loading } from '../../ui/states.tsx'
import { duration, Time } from '../../ui/time.tsx'

const said = texts.operations

interface Operations {
  readonly status: 'ok' | 'degraded' | 'unavailable'
  readonly reason: string | null
  readonly storage: { readonly name: string; readonly durable: boolean; readonly answers: boolean }
  readonly queue: { readonly name: string } | null
  readonly providers: readonly Provider[]
  readonly oldestDueMs: number | null
  readonly backlog: { readonly lanes: readonly Lane[] } | null
}

interface Provider {
  readonly channel: string
  readonly name: string
  readonly organizationId: string | null
  readonly state: 'ready' | 'paused' | 'probing'
  readonly pausedUntil: string | null
  readonly code: string | null
  readonly running: number
}

interface Lane {
  readonly lane: string | null
  readonly due: number
  readonly scheduled: number
  readonly leased: number
  readonly oldestDueMs: number | null
}

const STATUS: Readonly<Record<Operations['status'], Tone>> = {
  ok: 'good',
  degraded: 'warn',
  unavailable: 'bad',
}
const STATE: Readonly<Record<Provider['state'], Tone>> = { ready: 'good', paused: 'bad', probing: 'warn' }

const PROVIDERS: readonly Column<Provider>[] = [
  { title: said.provider, main: true, cell: ({ name }) => name },
  { title: said.channel, cell: ({ channel }) => channel },
  {
    title: said.organization,
    cell: ({ organizationId: id }) =>
      id === null ? <span class="muted">{said.all}</span> : <OrganizationLink id={id} />,
  },
  {
    title: said.state,
    cell: ({ state, code, pausedUntil }) => (
      <span>
        <Badge tone={STATE[state]}>{said.states[state]}</Badge> {code === null ? null : <code>{code}</code>}{' '}
        {pausedUntil === null ? null : (
          <span class="muted">
            {said.pausedUntil} <Time at={pausedUntil} style="short" />
          </span>
        )}
      </span>
    ),
  },
  { title: said.running, end: true, cell: ({ running }) => count(running) },
]

const LANES: readonly Column<Lane>[] = [
  { title: said.channel, main: true, cell: ({ lane }) => lane ?? said.events },
  { title: said.due, end: true, cell: ({ due }) => count(due) },
  { title: said.oldest, end: true, cell: ({ oldestDueMs }) => <Age of={oldestDueMs} /> },
  { title: said.scheduled, end: true, cell: ({ scheduled }) => count(scheduled) },
  { title: said.leased, end: true, cell: ({ leased }) => count(leased) },
]

export function OperationsPage() {
  const { value: operations, error, reload } = useData<Operations>('/v1/operations')
  return (
    <Page title={said.title} intro={said.intro}>
      {error === null ? null : <ErrorNote error={error} retry={reload} />}
      {operations === null ? error === null ? <Loading /> : null : <Parts of={operations} />}
    </Page>
  )
}

function Parts({
  of: { status, reason, storage, queue, providers, backlog, oldestDueMs },
}: {
  readonly of: Operations
}) {
  return (
    <>
      {reason === null ? null : <p class={`note ${status === 'unavailable' ? 'bad' : 'warn'}`}>{reason}</p>}
      <dl class="facts card">
        <dt>{said.status}</dt>
        <dd>
          <Badge tone={STATUS[status]}>{said.statuses[status]}</Badge>
        </dd>
        <dt>{said.storage}</dt>
        <dd>
          {storage.name}
          {storage.durable ? '' : `, ${said.volatile}`}
          {storage.answers ? '' : `, ${said.silent}`}
        </dd>
        <dt>{said.queue}</dt>
        <dd>{queue?.name ?? said.builtIn}</dd>
        <dt>{said.oldest}</dt>
        <dd>
          <Age of={oldestDueMs} />
        </dd>
      </dl>
      <section class="part" aria-labelledby="backlog">
        <h2 id="backlog">{said.backlog}</h2>
        {backlog === null || backlog.lanes.length === 0 ? (
          <p class="muted">{said.nothingWaits}</p>
        ) : (
          <Table
            label={said.backlog}
            items={backlog.lanes}
            columns={LANES}
            keyOf={({ lane }) => lane ?? ''}
          />
        )}
      </section>
      <section class="part" aria-labelledby="providers">
        <h2 id="providers">{said.providers}</h2>
        <p class="hint">{said.providersHint}</p>
        <Table
          label={said.providers}
          items={providers}
          columns={PROVIDERS}
          keyOf={({ channel, name, organizationId }) => `${channel} ${name} ${organizationId}`}
        />
      </section>
    </>
  )
}

function Age({ of: ms }: { readonly of: number | null }) {
  return ms === null ? <span class="muted">{said.noneDue}</span> : <span>{duration(ms)}</span>
}
