import { useData } from '../../app/use-data.ts'
import { texts } from '../../texts/index.ts'
import { settings } from '../../texts/settings.ts'
import { type Choice, Select } from '../../ui/field.tsx'
import { count } from '../../ui/number.ts'

const said = texts.organizations

interface Plan {
  readonly name: string
  readonly requests: { readonly limit: number; readonly windowMs: number } | null
  readonly notificationsPerHour: number | null
  readonly notificationsPerMonth: number | null
}

/** The plans of the service, each with its limits. Empty: the default. */
export function PlanSelect({
  value,
  error,
  onValue,
}: {
  readonly value: string
  readonly error: string | null
  readonly onValue: (plan: string) => void
}) {
  const { value: plans } = useData<{ readonly items: readonly Plan[] }>('/v1/plans', { everyMs: 0 })
  const items = plans?.items ?? []
  const chosen = items.find(({ name }) => name === value)
  const choices: Choice<string>[] = [
    { value: '', label: said.defaultPlan },
    ...items.map(({ name }) => ({ value: name, label: name })),
    // It may be a plan that the service has no more.
    ...(value === '' || chosen !== undefined ? [] : [{ value, label: value }]),
  ]
  return (
    <Select
      label={said.plan}
      hint={chosen === undefined ? said.planHint : limitsOf(chosen)}
      error={error}
      value={value}
      choices={choices}
      onValue={onValue}
    />
  )
}

function limitsOf({ requests, notificationsPerHour, notificationsPerMonth }: Plan): string {
  const parts = [
    ...(notificationsPerHour === null ? [] : [said.perHour(count(notificationsPerHour))]),
    ...(notificationsPerMonth === null ? [] : [said.perMonth(count(notificationsPerMonth))]),
    ...(requests === null
      ? []
      : [said.requests(count(requests.limit), settings.limits.window(requests.windowMs / 1_000))]),
  ]
  return parts.length === 0 ? settings.limits.unlimited : parts.join(', ')
}
