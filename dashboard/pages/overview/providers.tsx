import { hrefOf } from '../../app/router.ts'
import { inOrganization } from '../../app/session.ts'
import { texts } from '../../texts/index.ts'
import { Badge } from '../../ui/badge.tsx'
import { type Column, Table } from '../../ui/list.tsx'
import { count, percent } from '../../ui/number.ts'
import { Time } from '../../ui/time.tsx'
import type { Provider, Statistics } from './statistics.ts'

const said = texts.overview

/** How each provider did, and what it said last. */
export function Providers({ of: { providers, spans } }: { readonly of: Statistics }) {
  if (providers.length === 0) return null
  const from = spans[0]?.from
  const columns: Column<Provider>[] = [
    {
      title: said.provider,
      main: true,
      cell: ({ name }) => (
        <a href={hrefOf(inOrganization('/notifications'), { provider: name, from })}>{name}</a>
      ),
    },
    { title: texts.failures.channel, cell: ({ channel }) => channel },
    {
      title: said.successRate,
      end: true,
      cell: ({ sent, failed, exact }) => percent(sent / (sent + failed), exact),
    },
    { title: said.attempts, end: true, cell: ({ sent, failed, exact }) => count(sent + failed, exact) },
    { title: said.standing, cell: (provider) => <Standing of={provider} /> },
    { title: said.lastError, cell: (provider) => <LastError of={provider} /> },
  ]
  return (
    <section class="part" aria-labelledby="providers">
      <h2 id="providers">{said.providers}</h2>
      <Table
        label={said.providers}
        items={providers}
        columns={columns}
        keyOf={({ channel, name }) => `${channel} ${name}`}
      />
      {providers.every(({ exact }) => exact) ? null : <p class="hint">{said.newestAttempts}</p>}
    </section>
  )
}

function Standing({ of: { failingSince, pausedUntil } }: { readonly of: Provider }) {
  if (pausedUntil !== null) {
    return (
      <span>
        <Badge tone="bad">{texts.operations.states.paused}</Badge>{' '}
        <span class="muted">
          {texts.operations.pausedUntil} <Time at={pausedUntil} style="short" />
        </span>
      </span>
    )
  }
  if (failingSince === null) return <Badge tone="good">{said.works}</Badge>
  return (
    <span>
      <Badge tone="bad">{said.fails}</Badge>{' '}
      <span class="muted">
        {said.since} <Time at={failingSince} style="short" />
      </span>
    </span>
  )
}

function LastError({ of: { lastError } }: { readonly of: Provider }) {
  if (lastError === null) return <span class="muted">{texts.time.never}</span>
  const { code, providerCode, message, at } = lastError
  return (
    <div class="cause">
      {code === null ? null : <code>{code}</code>}{' '}
      {providerCode === null ? null : <code>{providerCode}</code>}{' '}
      <span class="muted">
        <Time at={at} />
      </span>
      {message === null ? null : <p class="hint long">{message}</p>}
    </div>
  )
}
