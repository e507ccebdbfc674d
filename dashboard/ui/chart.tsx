import { navigateTo } from '../app/router.ts'
import { texts } from '../texts/index.ts'
import { type Column, Table } from './list.tsx'
import { count } from './number.ts'

export interface Series {
  readonly name: string
  readonly tone: 'accent' | 'bad'
}

/** A bar: one value for each series, stacked in their order. */
export interface Bar {
  /** Of the table, and shown over the bar. */
  readonly title: string
  /** Below the bar; only some have one. */
  readonly label?: string
  /** The address that it leads to. */
  readonly href: string
  readonly values: readonly number[]
  /** False: there may be more. */
  readonly exact: boolean
}

const STEP = 20
const GAP = 3
const HEIGHT = 120

/** Stacked bars. The same numbers stand in a table, for those who do not see them, or want them exactly. */
export function BarChart({
  label,
  of: rowName,
  series,
  bars,
}: {
  readonly label: string
  /** What a bar stands for. */
  readonly of: string
  readonly series: readonly Series[]
  readonly bars: readonly Bar[]
}) {
  const all = bars.every(({ exact }) => exact)
  const most = Math.max(1, ...bars.map(({ values }) => sum(values)))
  const columns: Column<Bar>[] = [
    { title: rowName, main: true, cell: ({ title, href }) => <a href={href}>{title}</a> },
    ...series.map(({ name }, index) => ({
      title: name,
      end: true,
      cell: ({ values, exact }: Bar) => count(values[index] ?? 0, exact),
    })),
  ]
  return (
    <figure class="chart">
      <div class="chart-legend">
        <ul aria-hidden="true">
          {series.map(({ name, tone }) => (
            <li key={name} class={tone}>
              {name}
            </li>
          ))}
        </ul>
        <span class="muted">{texts.chart.most(count(most, all))}</span>
      </div>
      <svg
        role="img"
        aria-label={label}
        viewBox={`0 0 ${bars.length * STEP} ${HEIGHT}`}
        preserveAspectRatio="none"
      >
        {bars.map((bar, index) => (
          <Stack key={bar.title} bar={bar} at={index * STEP} series={series} most={most} />
        ))}
      </svg>
      <div class="chart-labels" aria-hidden="true">
        {bars.map(({ title, label: below }) => (
          <span key={title}>{below}</span>
        ))}
      </div>
      <details>
        <summary>{texts.chart.table}</summary>
        <Table label={label} items={bars} columns={columns} keyOf={({ title }) => title} />
      </details>
    </figure>
  )
}

function Stack({
  bar: { title, href, values, exact },
  at,
  series,
  most,
}: {
  readonly bar: Bar
  readonly at: number
  readonly series: readonly Series[]
  readonly most: number
}) {
  const text = series.map(({ name }, index) => `${name}: ${count(values[index] ?? 0, exact)}`)
  let top = HEIGHT
  return (
    // biome-ignore lint/a11y/noStaticElementInteractions: the table below has the same links for the keyboard and screen readers.
    <g class="leads" onClick={() => navigateTo(href)}>
      <title>{[title, ...text].join('\n')}</title>
      <rect class="ground" x={at} y={0} width={STEP} height={HEIGHT} />
      {series.map(({ name, tone }, index) => {
        // What there is must be seen, however little it is beside the rest.
        const value = values[index] ?? 0
        const height = value === 0 ? 0 : Math.max(2, (value / most) * HEIGHT)
        top = Math.max(0, top - height)
        return <rect key={name} class={tone} x={at + GAP} y={top} width={STEP - 2 * GAP} height={height} />
      })}
    </g>
  )
}

function sum(values: readonly number[]): number {
  return values.reduce((total, value) => total + value, 0)
}
