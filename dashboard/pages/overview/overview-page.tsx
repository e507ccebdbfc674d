import { hrefOf, place, setQuery } from '../../app/router.ts'
import { inOrganization, may, overAll } from '../../app/session.ts'
import { useData } from '../../app/use-data.ts'
import { texts } from '../../texts/index.ts'
import { Page } from '../../ui/page.tsx'
import { Segments } from '../../ui/segments.tsx'
import { Empty, ErrorNote, Loading } from '../../ui/states.tsx'
import { Causes } from './causes.tsx'
import { Numbers } from './numbers.tsx'
import { Providers } from './providers.tsx'
import { PERIODS, type Period, type Statistics } from './statistics.ts'
import { Throughput } from './throughput.tsx'

const said = texts.overview
/** The one that needs no query. */
const USUAL: Period = '24h'

function periodOf(given: string | undefined): Period {
  return PERIODS.find((each) => each === given) ?? USUAL
}

/** What an organization's notifications are doing now, and did in the last hour, day or week. */
export function OverviewPage() {
  const period = periodOf(place.value.query.period)
  const query = { period }
  const { value, error, reload } = useData<Statistics>('/v1/statistics', { query, everyMs: 10_000 })
  return (
    <Page
      title={said.title}
      intro={said.intro}
      actions={
        <Segments
          label={said.period}
          value={period}
          choices={PERIODS.map((each) => ({ value: each, label: said.periods[each] }))}
          onValue={(chosen) => setQuery({ period: chosen === USUAL ? '' : chosen })}
        />
      }
    >
      {error === null ? null : <ErrorNote error={error} retry={reload} />}
      {value === null && error === null ? <Loading /> : null}
      {value === null ? null : (
        <>
          <Numbers of={value} />
          {value.spans.every(({ accepted, sent, failed }) => accepted + sent + failed === 0) ? (
            <Start period={period} />
          ) : (
            <Throughput of={value} />
          )}
          <Causes of={value} />
          <Providers of={value} />
        </>
      )}
    </Page>
  )
}

/** What to do where nothing has been sent. */
function Start({ period }: { readonly period: Period }) {
  const mayWrite = may('Write') && !overAll.value
  return (
    <Empty icon="send" title={said.start(said.spans[period])}>
      <p>{mayWrite ? said.startHint : said.startReader}</p>
      <p class="actions">
        {mayWrite ? (
          <a class="button primary" href={hrefOf(inOrganization('/notifications'), { send: 'test' })}>
            {said.send}
          </a>
        ) : null}
        {may('Full Access') && mayWrite ? (
          <a class="button plain" href={hrefOf(inOrganization('/keys'))}>
            {said.key}
          </a>
        ) : null}
      </p>
    </Empty>
  )
}
