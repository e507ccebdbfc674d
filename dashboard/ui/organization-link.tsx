import { nameOf } from '../app/organization-names.ts'
import { hrefOf } from '../app/router.ts'
import { ALL_ORGANIZATIONS, inOrganization } from '../app/session.ts'
import { texts } from '../texts/index.ts'

/** Leads into an organization that an entry of a list over all belongs to. */
export function OrganizationLink({ id }: { readonly id: string | null }) {
  if (id === null || id === ALL_ORGANIZATIONS) return <span class="muted">{texts.app.allOrganizations}</span>
  return (
    <a class="cut" title={id} href={hrefOf(inOrganization('/', id))}>
      {nameOf(id)}
    </a>
  )
}
