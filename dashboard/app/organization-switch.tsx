import { texts } from '../texts/index.ts'
import type { Choice } from '../ui/field.tsx'
import { nameOf } from './organization-names.ts'
import { navigate } from './router.ts'
import { ALL_ORGANIZATIONS, inOrganization, isOperator, organization, session } from './session.ts'

/** Says which organization the pages are about, and leads to another one. */
export function OrganizationSwitch() {
  const id = organization.value
  const choices = choicesOf(id)
  if (choices.length < 2) {
    return id === null ? null : (
      <p class="organization">
        <span class="unseen">{texts.app.organization}</span>
        {nameOf(id)}
      </p>
    )
  }
  return (
    <label class="organization">
      <span class="unseen">{texts.app.organization}</span>
      <select
        value={id ?? ''}
        onChange={async ({ currentTarget: select }) => {
          await navigate(select.value === '' ? '/organizations' : inOrganization('/', select.value))
          // Unsaved edits may have kept the person here.
          select.value = organization.peek() ?? ''
        }}
      >
        {choices.map(({ value, label }) => (
          <option key={value} value={value}>
            {label}
          </option>
        ))}
      </select>
    </label>
  )
}

/** There may be any number of organizations: operators choose from a page. */
function choicesOf(id: string | null): readonly Choice<string>[] {
  const { organizations } = session.value
  if (!isOperator.value)
    return (organizations as readonly string[]).map((value) => ({ value, label: nameOf(value) }))
  return [
    { value: '', label: texts.app.chooseOrganization },
    { value: ALL_ORGANIZATIONS, label: texts.app.allOrganizations },
    ...(id === null || id === ALL_ORGANIZATIONS ? [] : [{ value: id, label: nameOf(id) }]),
  ]
}
