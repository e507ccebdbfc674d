import { hrefOf } from '../../app/router.ts'
import { inOrganization } from '../../app/session.ts'
import { texts } from '../../texts/index.ts'
import { settings } from '../../texts/settings.ts'
import { type Column, Table } from '../../ui/list.tsx'
import { NotificationStatus } from '../../ui/notification-status.tsx'
import { Time } from '../../ui/time.tsx'
import type { Summary } from '../notifications/notification.ts'

const said = settings.recipients
const words = texts.notifications
/** The list of notifications shows the others. */
const SHOWN = 10

const COLUMNS: readonly Column<Summary>[] = [
  {
    title: words.message,
    main: true,
    cell: ({ id, subject, template, to }) => (
      <a class="long" href={hrefOf(inOrganization(`/notifications/${id}`))}>
        {subject || template || to || id}
      </a>
    ),
  },
  {
    title: words.status,
    cell: ({ status, error }) => (
      <span class="standing">
        <NotificationStatus status={status} failing={error !== null} />
        {error === null ? null : <code class="muted">{error.code}</code>}
      </span>
    ),
  },
  { title: words.channel, cell: ({ channel }) => channel },
  { title: words.created, end: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
]

export function LatestNotifications({ items }: { readonly items: readonly Summary[] }) {
  return (
    <section class="part" aria-labelledby="latest">
      <h2 id="latest">{said.latest}</h2>
      {items.length === 0 ? (
        <p class="muted">{said.noNotifications}</p>
      ) : (
        <Table label={said.latest} items={items.slice(0, SHOWN)} columns={COLUMNS} keyOf={({ id }) => id} />
      )}
    </section>
  )
}
