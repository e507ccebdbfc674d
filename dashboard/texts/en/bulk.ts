import { failures } from './failures.ts'
import { notifications } from './notifications.ts'

/** Texts of actions on many items. */
export const bulk = {
  waiting: 'Waiting: the limit of requests is used up. It continues automatically.',
  sessionEnded: 'Your session has ended. Sign in, and start again for the rest.',
  dismiss: 'Keep them',
  progress: 'Progress',
  running: (done: string, all: string) => `${done} of ${all}`,
  reasons: {
    sent: (count: string) => `${count} already sent`,
    failed: (count: string) => `${count} already failed`,
    cancelled: (count: string) => `${count} already cancelled`,
    skipped: (count: string) => `${count} skipped`,
    waiting: (count: string) => `${count} still waiting`,
    permanent: (count: string) => `${count} would fail again`,
    expired: (count: string) => `${count} expired`,
    gone: (count: string) => `${count} removed`,
  },
  refused: {
    not_cancellable: (count: string) => `${count} sent in the meantime, or just being sent`,
    not_retryable: (count: string) => `${count} changed in the meantime`,
    content_removed: (count: string) => `${count} whose text was removed`,
    invalid_channel: (count: string) => `${count} for a channel without a provider`,
    notification_not_found: (count: string) => `${count} removed in the meantime`,
  } as Readonly<Partial<Record<string, (count: string) => string>>>,
  cancel: {
    title: 'Cancel the selected notifications?',
    hint: notifications.cancelHint,
    none: 'None of them can be cancelled.',
    possible: (count: string, of: string) =>
      count === of ? `${count} can be cancelled.` : `${count} of the ${of} can be cancelled.`,
    start: (count: string) => `Cancel ${count}`,
    done: (count: string) => `${count} cancelled.`,
    stopped: (count: string) => `Stopped. ${count} cancelled; the others stay as they are.`,
  },
  retry: {
    title: 'Retry the selected notifications?',
    hint: failures.fixFirst,
    none: 'None of them can be retried.',
    possible: (count: string, of: string) =>
      count === of ? `${count} can be retried.` : `${count} of the ${of} can be retried.`,
    start: (count: string) => `Retry ${count}`,
    done: (count: string) => `${delivered(count)} again.`,
    stopped: (count: string) => `Stopped. ${delivered(count)} again; the others stay as they are.`,
  },
}

function delivered(count: string): string {
  return count === '1' ? '1 is being delivered' : `${count} are being delivered`
}
