import { hrefOf } from '../../app/router.ts'
import { inOrganization } from '../../app/session.ts'
import { useData } from '../../app/use-data.ts'
import { settings } from '../../texts/settings.ts'
import { Badge } from '../../ui/badge.tsx'
import { type Column, Table } from '../../ui/list.tsx'
import { Time } from '../../ui/time.tsx'
import type { Summary } from '../notifications/notification.ts'

const said = settings.recipients
const SHOWN = 5

interface Address {
  readonly channel: string
  readonly to: string
}

interface Suppression {
  readonly reason: keyof typeof settings.suppressions.reasons
  readonly createdAt: string
}

const COLUMNS: readonly Column<Address>[] = [
  {
    title: said.to,
    main: true,
    cell: ({ channel, to }) => (
      <a class="long" href={hrefOf(inOrganization('/recipients'), { channel, to })}>
        {to}
      </a>
    ),
  },
  { title: said.channel, cell: ({ channel }) => channel },
  { title: said.suppression, cell: (address) => <Standing of={address} /> },
]

/** The addresses of a recipient, and whether they are suppressed; of an address the people who have it. */
export function Addresses({
  named,
  items,
}: {
  readonly named: Readonly<Record<string, string>>
  readonly items: readonly Summary[]
}) {
  const { channel, to } = named
  const own = channel === undefined || to === undefined ? items : [{ channel, to }]
  const shown = new Map(own.filter((one) => one.to !== '').map((one) => [keyOf(one), one]))
  const people = to === undefined ? [] : [...new Set(items.flatMap(({ recipient }) => recipient ?? []))]
  if (shown.size === 0) return null
  return (
    <section class="part" aria-labelledby="addresses">
      <h2 id="addresses">{said.addresses}</h2>
      <Table
        label={said.addresses}
        items={[...shown.values()].slice(0, SHOWN)}
        columns={COLUMNS}
        keyOf={keyOf}
      />
      {to === undefined ? <p class="hint">{said.addressesHint}</p> : null}
      {people.length === 0 ? null : (
        <p class="links">
          {said.people}:{' '}
          {people.slice(0, SHOWN).map((recipient) => (
            <a key={recipient} class="long" href={hrefOf(inOrganization('/recipients'), { recipient })}>
              {recipient}
            </a>
          ))}
        </p>
      )}
    </section>
  )
}

function keyOf({ channel, to }: Address): string {
  return `${channel} ${to}`
}

function Standing({ of: { channel, to } }: { readonly of: Address }) {
  const { value } = useData<{ readonly items: readonly Suppression[] }>('/v1/suppressions', {
    query: { channel, to, limit: '1' },
    everyMs: 0,
  })
  if (value === null) return null
  const [found] = value.items
  if (found === undefined) return <span class="muted">{said.notSuppressed}</span>
  return (
    <a class="standing" href={hrefOf(inOrganization('/suppressions'), { channel, to })}>
      <Badge tone="bad">{settings.suppressions.reasons[found.reason] ?? found.reason}</Badge>
      <Time at={found.createdAt} style="short" />
    </a>
  )
}
