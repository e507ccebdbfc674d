import { texts } from '../texts/index.ts'
import { hrefOf, navigate } from './router.ts'
import { inOrganization, isOperator, organization, session } from './session.ts'

/** Says which organization the pages are about, and leads to another one. */
export function OrganizationSwitch() {
  const { organizations } = session.value
  const id = organization.value
  if (organizations !== 'all' && organizations.length > 1) {
    return (
      <label class="organization">
        <span class="unseen">{texts.app.organization}</span>
        <select
          value={id ?? ''}
          onChange={(event) => void navigate(inOrganization('/', event.currentTarget.value))}
        >
          {organizations.map((each) => (
            <option key={each} value={each}>
              {each}
            </option>
          ))}
        </select>
      </label>
    )
  }
  if (id === null) return null
  return (
    <p class="organization">
      <span class="unseen">{texts.app.organization}</span>
      {isOperator.value ? <a href={hrefOf('/organizations')}>{id}</a> : id}
    </p>
  )
}
