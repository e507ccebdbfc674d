import { texts } from '../../texts/index.ts'
import { BarChart } from '../../ui/chart.tsx'
import { count } from '../../ui/number.ts'
import { hourOf } from '../../ui/time.tsx'
import type { Hour } from './statistics.ts'

const said = texts.overview
const LABEL_EVERY = 6

/** How many were sent and how many failed in each hour. */
export function Throughput({ of: hours }: { readonly of: readonly Hour[] }) {
  const sent = hours.reduce((total, hour) => total + hour.sent, 0)
  const failed = hours.reduce((total, hour) => total + hour.failed, 0)
  const exact = hours.every((hour) => hour.exact)
  return (
    <section class="part card" aria-labelledby="throughput">
      <h2 id="throughput">{said.throughput}</h2>
      <BarChart
        label={said.throughputOf(count(sent, exact), count(failed, exact))}
        of={said.hour}
        series={[
          { name: said.sent, tone: 'accent' },
          { name: texts.notifications.statuses.failed, tone: 'bad' },
        ]}
        bars={hours.map((hour, index) => ({
          title: hourOf(hour.from, 'day and hour'),
          ...(index % LABEL_EVERY === 0 ? { label: hourOf(hour.from, 'hour') } : {}),
          values: [hour.sent, hour.failed],
          exact: hour.exact,
        }))}
      />
      {exact ? null : <p class="hint">{said.least}</p>}
    </section>
  )
}
