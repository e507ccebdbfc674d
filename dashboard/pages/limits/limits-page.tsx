import { useSignal } from '@preact/signals'
import { ask } from '../../app/api.ts'
import { isOperator, may } from '../../app/session.ts'
import { useAction } from '../../app/use-action.ts'
import { useData } from '../../app/use-data.ts'
import { settings } from '../../texts/settings.ts'
import { Button } from '../../ui/button.tsx'
import { Meter } from '../../ui/meter.tsx'
import { count, size } from '../../ui/number.ts'
import { Page } from '../../ui/page.tsx'
import { ErrorNote, Loading } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { tell } from '../../ui/toast.tsx'
import type { Organization } from '../organizations/organization.ts'
import { ChangePlan } from './change-plan.tsx'

const said = settings.limits

interface Usage {
  readonly limit: number
  readonly used: number
  /** Absent, like the window: it rises only when something is deleted. */
  readonly resetAt?: string
  readonly windowSeconds?: number | null
}

interface Account {
  readonly organizationId: string
  readonly plan: string
  readonly limits: {
    readonly requests: Usage | null
    readonly concurrentRequests: { readonly limit: number } | null
    readonly notificationsPerHour: Usage | null
    readonly notificationsPerMonth: Usage | null
    readonly storedBytes: Usage | null
  }
  readonly restriction: { readonly until: string } | null
}

const USAGES = ['notificationsPerMonth', 'notificationsPerHour', 'requests', 'storedBytes'] as const

export function LimitsPage() {
  const { value: account, error, reload } = useData<Account>('/v1/account/limits')
  const changing = useSignal<Organization | null>(null)
  const close = (): void => {
    changing.value = null
  }
  const action = useAction()
  const change = () =>
    action.run(async () => {
      changing.value = await ask<Organization>(`/v1/organizations/${account?.organizationId}`)
    })
  return (
    <Page
      title={said.title}
      intro={said.intro}
      actions={
        account !== null && isOperator.value && may('Full Access') ? (
          <Button icon="edit" onClick={change}>
            {said.change}
          </Button>
        ) : undefined
      }
    >
      {action.error === null ? null : <ErrorNote error={action.error} />}
      {error === null ? null : <ErrorNote error={error} retry={reload} />}
      {account === null ? error === null ? <Loading /> : null : <Limits of={account} />}
      {changing.value === null ? null : (
        <ChangePlan
          organizationId={changing.value.id}
          plan={changing.value.plan}
          onClose={close}
          onDone={() => {
            close()
            tell(said.changed)
            void reload()
          }}
        />
      )}
    </Page>
  )
}

function Limits({ of: { plan, limits, restriction } }: { readonly of: Account }) {
  const concurrent = limits.concurrentRequests
  return (
    <>
      {restriction === null ? null : (
        <p class="note bad">
          <span>
            {said.restricted} <Time at={restriction.until} style="full" />
          </span>
        </p>
      )}
      <p>
        {said.plan}: <strong>{plan}</strong>
      </p>
      <div class="cards">
        {USAGES.map((name) => (
          <Limit
            key={name}
            title={said.names[name]}
            usage={limits[name]}
            written={name === 'storedBytes' ? size : count}
          />
        ))}
        <section class="card">
          <h2>{said.names.concurrentRequests}</h2>
          <p class="muted">{concurrent === null ? said.unlimited : said.atMost(count(concurrent.limit))}</p>
        </section>
      </div>
    </>
  )
}

function Limit({
  title,
  usage,
  written,
}: {
  readonly title: string
  readonly usage: Usage | null
  /** A number of the usage as people read it. */
  readonly written: (value: number) => string
}) {
  if (usage === null) {
    return (
      <section class="card">
        <h2>{title}</h2>
        <p class="muted">{said.unlimited}</p>
      </section>
    )
  }
  const { limit, used, resetAt, windowSeconds } = usage
  const text = said.used(written(used), written(limit))
  return (
    <section class="card">
      <h2>{title}</h2>
      <Meter label={title} value={used} most={limit} text={text} />
      <p class="muted">
        {text}{' '}
        {windowSeconds === undefined
          ? null
          : windowSeconds === null
            ? said.month
            : said.within(said.window(windowSeconds))}
      </p>
      {resetAt === undefined || (used === 0 && windowSeconds !== null) ? null : (
        <p class="hint">
          {windowSeconds === null ? said.resetsOn : said.resets}{' '}
          <Time at={resetAt} style={windowSeconds === null ? 'day' : 'relative'} />
          {windowSeconds === null ? ` ${said.zone}` : null}
        </p>
      )}
    </section>
  )
}
