import { texts } from '../texts/index.ts'
import { Badge, type Tone } from './badge.tsx'

export type Status = keyof typeof texts.notifications.statuses

const TONES: Readonly<Record<Status, Tone>> = {
  scheduled: 'info',
  queued: 'info',
  sent: 'good',
  delivered: 'good',
  opened: 'good',
  clicked: 'good',
  failed: 'bad',
  cancelled: 'plain',
  skipped: 'plain',
}

/** Where a notification stands. One that waits after a failed attempt is told from one that has not begun. */
export function NotificationStatus({
  status,
  failing = false,
}: {
  readonly status: Status
  readonly failing?: boolean
}) {
  const tone = status === 'queued' && failing ? 'warn' : TONES[status]
  return <Badge tone={tone}>{texts.notifications.statuses[status]}</Badge>
}
