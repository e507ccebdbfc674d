import { hrefOf } from '../../app/router.ts'
import { inOrganization, may, overAll } from '../../app/session.ts'
import { useData } from '../../app/use-data.ts'
import { texts } from '../../texts/index.ts'
import { Page } from '../../ui/page.tsx'
import { Empty, ErrorNote, Loading } from '../../ui/states.tsx'
import { Causes } from './causes.tsx'
import { Numbers } from './numbers.tsx'
import type { Statistics } from './statistics.ts'
import { Throughput } from './throughput.tsx'

const said = texts.overview

/** What an organization's notifications are doing now, and did in the last 24 hours. */
export function OverviewPage() {
  const { value, error, reload } = useData<Statistics>('/v1/statistics', { everyMs: 10_000 })
  return (
    <Page title={said.title} intro={said.intro}>
      {error === null ? null : <ErrorNote error={error} retry={reload} />}
      {value === null && error === null ? <Loading /> : null}
      {value === null ? null : (
        <>
          <Numbers of={value} />
          {value.hours.every(({ accepted, sent, failed }) => accepted + sent + failed === 0) ? (
            <Start />
          ) : (
            <Throughput of={value.hours} />
          )}
          <Causes of={value.failures} since={value.hours[0]?.from} />
        </>
      )}
    </Page>
  )
}

/** What to do where nothing has been sent. */
function Start() {
  const mayWrite = may('Write') && !overAll.value
  return (
    <Empty icon="send" title={said.start}>
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
