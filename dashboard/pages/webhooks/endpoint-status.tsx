import { texts } from '../../texts/index.ts'
import { Badge } from '../../ui/badge.tsx'
import type { Endpoint } from './endpoint.ts'

const said = texts.webhooks

export function EndpointStatus({ of: { status, failingSince } }: { readonly of: Endpoint }) {
  if (status === 'disabled') return <Badge tone="bad">{said.statuses.disabled}</Badge>
  if (failingSince !== null) return <Badge tone="warn">{said.failing}</Badge>
  return <Badge tone="good">{said.statuses.active}</Badge>
}
