import { texts } from '../../texts/index.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import type { Delivery } from './endpoint.ts'

const TONES: Readonly<Record<Delivery['status'], Tone>> = {
  pending: 'info',
  delivered: 'good',
  failed: 'bad',
  held: 'warn',
}

/** Where the delivery of an event stands. */
export function DeliveryStatus({ of: status }: { readonly of: Delivery['status'] }) {
  return <Badge tone={TONES[status]}>{texts.webhooks.deliveryStatus[status]}</Badge>
}
