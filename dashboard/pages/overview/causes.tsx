import { hrefOf } from '../../app/router.ts'
import { inOrganization } from '../../app/session.ts'
import { texts } from '../../texts/index.ts'
import { type Column, Table } from '../../ui/list.tsx'
import { count } from '../../ui/number.ts'
import { type Group, groupQuery, keyOfGroup } from '../failures/group.ts'
import type { Statistics } from './statistics.ts'

const said = texts.overview
/** The page of failures shows the others. */
const SHOWN = 5

/** The most frequent causes of failures. */
export function Causes({
  of: { period, spans, failures },
}: {
  readonly of: Pick<Statistics, 'period' | 'spans' | 'failures'>
}) {
  const { groups, exact } = failures
  const since = spans[0]?.from
  const columns: Column<Group>[] = [
    {
      title: said.cause,
      main: true,
      cell: (group) => (
        <a href={hrefOf(inOrganization('/notifications'), { ...groupQuery(group), from: since })}>
          <code>{group.code}</code>
        </a>
      ),
    },
    { title: texts.failures.channel, cell: ({ channel }) => channel },
    { title: texts.failures.provider, cell: ({ provider }) => provider ?? '' },
    { title: said.count, end: true, cell: (group) => count(group.count, exact) },
  ]
  const most = groups.slice(0, SHOWN)
  return (
    <section class="part" aria-labelledby="causes">
      <header class="part-head">
        <h2 id="causes">{said.failures}</h2>
        <a href={hrefOf(inOrganization('/failures'), { from: since })}>{said.allFailures}</a>
      </header>
      {most.length === 0 ? (
        <p class="muted">{said.noFailures(said.spans[period])}</p>
      ) : (
        <Table label={said.failures} items={most} columns={columns} keyOf={keyOfGroup} />
      )}
    </section>
  )
}
