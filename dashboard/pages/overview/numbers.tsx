import type { ComponentChildren } from 'preact'
import { hrefOf, type Query } from '../../app/router.ts'
import { inOrganization } from '../../app/session.ts'
import { texts } from '../../texts/index.ts'
import { count, percent } from '../../ui/number.ts'
import { duration } from '../../ui/time.tsx'
import type { Statistics } from './statistics.ts'

const said = texts.overview

/** What waits and what failed; each number leads to the list behind it. */
export function Numbers({
  of: { waiting, period, spans, failures, successRate, most },
}: {
  readonly of: Statistics
}) {
  const { due, retrying, running, scheduled, oldestDueMs } = waiting
  const from = spans[0]?.from
  const ended = spans.every(({ exact }) => exact)
  return (
    <ul class="cards small">
      <NumberCard
        name={said.successRate}
        value={successRate === null ? said.noRate : percent(successRate, ended)}
        path="/notifications"
        query={{ from }}
      >
        {said.within[period]}
      </NumberCard>
      <NumberCard
        name={said.failed}
        value={count(failures.total, failures.exact)}
        path="/failures"
        query={{ from }}
      >
        {said.within[period]}
      </NumberCard>
      <NumberCard
        name={said.due}
        value={count(due, due < most)}
        path="/notifications"
        query={{ status: 'queued' }}
      >
        {oldestDueMs === null ? undefined : said.oldest(duration(oldestDueMs))}
      </NumberCard>
      <NumberCard
        name={said.retrying}
        value={count(retrying, retrying < most)}
        path="/notifications"
        query={{ status: 'queued' }}
      />
      <NumberCard
        name={said.running}
        value={count(running, running < most)}
        path="/notifications"
        query={{ status: 'queued' }}
      />
      <NumberCard
        name={said.scheduled}
        value={count(scheduled, scheduled < most)}
        path="/notifications"
        query={{ status: 'scheduled' }}
      />
    </ul>
  )
}

function NumberCard({
  name,
  value,
  path,
  query,
  children,
}: {
  readonly name: string
  readonly value: string
  readonly path: string
  readonly query: Query
  readonly children?: ComponentChildren
}) {
  return (
    <li>
      <a class="card" href={hrefOf(inOrganization(path), query)}>
        <span class="name">{name}</span>
        <span class="number">{value}</span>
        {children === undefined ? null : <span class="hint">{children}</span>}
      </a>
    </li>
  )
}
