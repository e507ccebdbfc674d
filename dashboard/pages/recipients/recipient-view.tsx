import { hrefOf, type Query } from '../../app/router.ts'
import { inOrganization } from '../../app/session.ts'
import { useData } from '../../app/use-data.ts'
import { texts } from '../../texts/index.ts'
import { settings } from '../../texts/settings.ts'
import { Table } from '../../ui/list.tsx'
import { ErrorNote, Loading } from '../../ui/states.tsx'
import type { Summary } from '../notifications/notification.ts'
import type { QuietChoice } from '../quiet-hours/quiet.ts'
import { QuietSection } from '../quiet-hours/quiet-section.tsx'
import { CAUSE, keyOfRefusal, REST, type Refusal } from '../refusals/refusal.tsx'
import { Addresses } from './addresses.tsx'
import { LatestNotifications } from './latest-notifications.tsx'
import { StoredData } from './stored-data.tsx'
import { type Choices, Wishes } from './wishes.tsx'

const said = settings.recipients
const PATH = '/v1/preferences'
const SELDOM_MS = 30_000

interface Preferences extends Choices {
  readonly quietHours: QuietChoice
}

/** What went to one recipient, what did not and why, and what the recipient wants. */
export function RecipientView({ named }: { readonly named: Readonly<Record<string, string>> }) {
  const { value, error, reload } = useData<Preferences>(PATH, { query: named, everyMs: SELDOM_MS })
  const { recipient, to = '', channel } = named
  const list: Query = recipient === undefined ? { to, channel } : { recipient }
  const sent = useData<{ readonly items: readonly Summary[] }>('/v1/notifications', {
    query: { ...list, limit: '50' },
  })
  const name = recipient ?? to
  if (value === null) return error === null ? <Loading /> : <ErrorNote error={error} retry={reload} />
  return (
    <>
      <header class="part part-head">
        <h2 class="long whom">{name}</h2>
        <a href={hrefOf(inOrganization('/notifications'), list)}>{said.notifications}</a>
      </header>
      {error === null ? null : <ErrorNote error={error} retry={reload} />}
      {sent.error === null ? null : <ErrorNote error={sent.error} retry={sent.reload} />}
      <Addresses named={named} items={sent.value?.items ?? []} />
      <Refusals query={list} />
      {sent.value === null ? null : <LatestNotifications items={sent.value.items} />}
      <QuietSection
        title={texts.quietHours.title}
        hint={recipient === undefined ? said.byAddress : said.byId}
        owner={{ level: 'person', path: PATH, query: named, name }}
        choice={value.quietHours}
        needs="Write"
        reload={reload}
      />
      <Wishes of={value} query={named} reload={reload} />
      <StoredData named={named} name={name} />
    </>
  )
}

function Refusals({ query }: { readonly query: Query }) {
  const { value, error, reload } = useData<{ readonly items: readonly Refusal[] }>('/v1/refusals', {
    query,
    everyMs: SELDOM_MS,
  })
  return (
    <section class="part" aria-labelledby="refusals">
      <header class="part-head">
        <h2 id="refusals">{texts.refusals.recent}</h2>
        <a href={hrefOf(inOrganization('/refusals'))}>{texts.refusals.all}</a>
      </header>
      {error === null ? null : <ErrorNote error={error} retry={reload} />}
      {value?.items.length === 0 ? <p class="muted">{texts.refusals.none}</p> : null}
      {value === null || value.items.length === 0 ? null : (
        <Table
          label={texts.refusals.recent}
          items={value.items}
          columns={[CAUSE, ...REST]}
          keyOf={keyOfRefusal}
        />
      )}
    </section>
  )
}
