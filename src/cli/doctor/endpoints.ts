import type { MultiTenantNotifier } from '../../notifier.ts'
import type { ServedNotifier } from '../../served-notifier.ts'
import { type Finding, ok, warning } from './finding.ts'

/** More are not checked. */
const MOST = 50

/** Whether webhook endpoints answer, by the guarded way that events take. Nothing is delivered. */
export async function endpointFindings(
  notifier: MultiTenantNotifier,
  { reach }: Pick<ServedNotifier, 'reach'>,
): Promise<readonly Finding[]> {
  const endpoints = await endpointsOf(notifier)
  const checked = endpoints.slice(0, MOST).map(async ({ organizationId, id, url }): Promise<Finding> => {
    // The rest of the URL may be secret.
    const part = `webhook ${id} to ${new URL(url).host}`
    const fault = await reach(organizationId, url)
    if (fault === null) return ok(part, 'answers')
    const remove = `carillon call deleteWebhook ${id} --organization ${organizationId}`
    return warning(part, fault, `Ask its owner to make it reachable, or remove it: ${remove}`)
  })
  const findings = await Promise.all(checked)
  return endpoints.length > MOST ? [...findings, ok('webhooks', `only ${MOST} were checked`)] : findings
}

/** Those of the newest organizations. */
async function endpointsOf(notifier: MultiTenantNotifier) {
  const organizations = await notifier.organizations.list({ limit: 100 })
  const found: { readonly organizationId: string; readonly id: string; readonly url: string }[] = []
  for (const { id: organizationId } of organizations.items) {
    if (found.length > MOST) break
    const { items } = await notifier.organization(organizationId).webhooks.list({ limit: MOST + 1 })
    found.push(...items.map(({ id, url }) => ({ organizationId, id, url })))
  }
  return found
}
