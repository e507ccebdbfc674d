import { texts } from '../../texts/index.ts'
import { Badge, type Tone } from '../../ui/badge.tsx'
import { Time } from '../../ui/time.tsx'
import type { Delivery } from './endpoint.ts'

const TONES: Readonly<Record<Delivery['status'], Tone>> = {
  pending: 'info',
  delivered: 'good',
  failed: 'bad',
  held: 'warn',
}

/** Where the delivery of an event stands. */
export function DeliveryStatus({
  of: { status, nextAttemptAt },
}: {
  readonly of: Pick<Delivery, 'status' | 'nextAttemptAt'>
}) {
  if (status === 'pending' && nextAttemptAt !== null) {
    return (
      <span class="standing">
        <Badge tone="warn">{texts.webhooks.retrying}</Badge>
        <span class="muted">
          {texts.webhooks.next} <Time at={nextAttemptAt} style="short" />
        </span>
      </span>
    )
  }
  return <Badge tone={TONES[status]}>{texts.webhooks.deliveryStatus[status]}</Badge>
}
