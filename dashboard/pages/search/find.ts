import { ask } from '../../app/api.ts'
import { hrefOf, type Query } from '../../app/router.ts'
import { ALL_ORGANIZATIONS, inOrganization, isOperator, organization, session } from '../../app/session.ts'
import { texts } from '../../texts/index.ts'
import type { IconName } from '../../ui/icon.tsx'
import { personQuery } from '../recipients/person.ts'

const said = texts.search

/** A place to go to. */
export interface Found {
  readonly icon: IconName
  readonly title: string
  readonly hint?: string
  readonly href: string
}

interface Named {
  readonly id: string
  readonly name: string
}

interface Item {
  readonly organizationId: string
  readonly to?: string
}

/** What a text names, the likeliest first. */
export async function find(text: string, signal: AbortSignal): Promise<readonly Found[]> {
  const scope = organization.value ?? ALL_ORGANIZATIONS
  const isOne = scope !== ALL_ORGANIZATIONS
  const headers = { 'X-Organization-ID': scope }

  /** Null: there is none, or it may not be read. */
  async function read<Answer>(path: string, query: Query = {}): Promise<Answer | null> {
    try {
      return await ask<Answer>(path, { query, headers, signal })
    } catch (error) {
      if (signal.aborted) throw error
      return null
    }
  }
  const first = async (path: string, query: Query) =>
    (await read<{ readonly items: readonly Item[] }>(path, { ...query, limit: '1' }))?.items[0]
  const hrefIn = (path: string, query: Query = {}): string => hrefOf(inOrganization(path, scope), query)

  /** A list of notifications, if there are any. */
  async function listed(filter: Query, shown: Query, title: string): Promise<Found | null> {
    const found = await first('/v1/notifications', filter)
    return found === undefined
      ? null
      : { icon: 'notifications', title, href: hrefIn('/notifications', shown) }
  }

  async function notification(id: string): Promise<Found | null> {
    const found = isOne
      ? await read<Item>(`/v1/notifications/${id}`)
      : await first('/v1/logs', { notificationId: id })
    if (found === null || found === undefined) return null
    const { organizationId, to = '' } = found
    const href = hrefOf(inOrganization(`/notifications/${id}`, organizationId))
    return { icon: 'notifications', title: to === '' ? id : to, hint: said.notification, href }
  }

  async function template(reference: string): Promise<Found | null> {
    if (!isOne) return null
    const found = await read<Named>(`/v1/templates/${encodeURIComponent(reference)}`)
    if (found === null) return null
    return { icon: 'templates', title: said.template(found.name), href: hrefIn(`/templates/${found.id}`) }
  }

  async function endpoint(id: string): Promise<Found | null> {
    const found = await read<{ readonly url: string }>(`/v1/webhooks/${encodeURIComponent(id)}`)
    if (found === null) return null
    return { icon: 'webhooks', title: found.url, hint: said.endpoint, href: hrefIn(`/webhooks/${id}`) }
  }

  async function key(id: string): Promise<Found | null> {
    const found = isOne ? await read<Named>(`/v1/api-keys/${encodeURIComponent(id)}`) : null
    return found === null ? null : { icon: 'keys', title: found.name, hint: said.key, href: hrefIn('/keys') }
  }

  async function tenant(id: string): Promise<Found | null> {
    const found = isOperator.value ? await read<Named>(`/v1/organizations/${encodeURIComponent(id)}`) : null
    if (found === null) return null
    return {
      icon: 'organizations',
      title: said.organization(found.name),
      hint: id,
      href: hrefOf(inOrganization('/', id)),
    }
  }

  const person = (named: Query, name: string): Found => ({
    icon: 'recipients',
    title: said.person(name),
    hint: said.personHint,
    href: hrefIn('/recipients', named),
  })

  /** By the application's id, if a message or a refusal names it. */
  async function personById(id: string): Promise<Found | null> {
    const found = await Promise.all([
      first('/v1/notifications', { recipient: id }),
      isOne ? first('/v1/refusals', { recipient: id }) : undefined,
    ])
    if (found.every((each) => each === undefined)) return null
    return isOne
      ? person({ recipient: id }, id)
      : { icon: 'notifications', title: said.to(id), href: hrefIn('/notifications', { recipient: id }) }
  }

  async function addresses(): Promise<Found | null> {
    return (
      (await listed({ to: text }, { to: text }, said.to(text))) ??
      (await listed({ toPrefix: text }, { toPrefix: text }, said.toPrefix(text)))
    )
  }

  const [, digits] = /^(?:notif|evt|log)_(\d{20,})/.exec(text) ?? []
  if (digits !== undefined) return present([notification(`notif_${digits}`)])
  const [prefix = ''] = /^[a-z]+(?=_[\w-]{4,}$)/.exec(text) ?? []
  const byId = { tpl: template, wh: endpoint, key, org: tenant }[prefix]
  if (prefix === 'grp') return present([listed({ groupId: text }, { groupId: text }, said.group)])
  const [, name, value] = /^([\w.-]{1,40}):(.+)$/.exec(text) ?? []
  const address = personQuery(text, session.value.channels)
  const found = await present([
    byId?.(text),
    address === null || !isOne ? null : person(address, text),
    name === undefined || value === undefined
      ? null
      : listed({ [`metadata[${name}]`]: value }, { metadata: text }, said.metadata(text)),
    personById(text),
    /^[\w .-]{1,100}$/.test(text) && byId === undefined ? template(text) : null,
    addresses(),
  ])
  // Nothing is stored about most people to whom nothing was sent, and their page says so.
  return found.length === 0 && isOne && text.length <= 255 ? [person({ recipient: text }, text)] : found
}

async function present(
  searches: readonly (Found | null | undefined | Promise<Found | null>)[],
): Promise<readonly Found[]> {
  return (await Promise.all(searches)).filter((one) => one !== null && one !== undefined)
}
