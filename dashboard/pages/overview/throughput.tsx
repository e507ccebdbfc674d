import { hrefOf } from '../../app/router.ts'
import { inOrganization } from '../../app/session.ts'
import { texts } from '../../texts/index.ts'
import { BarChart } from '../../ui/chart.tsx'
import { count } from '../../ui/number.ts'
import { hourOf } from '../../ui/time.tsx'
import type { Period, Statistics } from './statistics.ts'

const said = texts.overview
/** How many bars share one label, and what it says. */
const LABELS: Readonly<Record<Period, { every: number; style: 'hour' | 'day' }>> = {
  '1h': { every: 3, style: 'hour' },
  '24h': { every: 6, style: 'hour' },
  '7d': { every: 4, style: 'day' },
}

/** How many were sent and how many failed in each step of the period. A bar leads to what was accepted then. */
export function Throughput({ of: { period, spans } }: { readonly of: Statistics }) {
  const sent = spans.reduce((total, span) => total + span.sent, 0)
  const failed = spans.reduce((total, span) => total + span.failed, 0)
  const exact = spans.every((span) => span.exact)
  const { every, style } = LABELS[period]
  return (
    <section class="part card" aria-labelledby="throughput">
      <h2 id="throughput">{said.throughput(said.spans[period])}</h2>
      <BarChart
        label={said.throughputOf(said.spans[period], count(sent, exact), count(failed, exact))}
        of={said.time}
        series={[
          { name: said.sent, tone: 'accent' },
          { name: texts.notifications.statuses.failed, tone: 'bad' },
        ]}
        bars={spans.map((span, index) => ({
          title: hourOf(span.from, 'day and hour'),
          href: hrefOf(inOrganization('/notifications'), { from: span.from, until: span.until }),
          ...(index % every === 0 ? { label: hourOf(span.from, style) } : {}),
          values: [span.sent, span.failed],
          exact: span.exact,
        }))}
      />
      <p class="hint">
        {said.barHint} {exact ? null : said.least}
      </p>
    </section>
  )
}
