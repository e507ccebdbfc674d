/** Texts of the page that groups failures, and of the retry of many. */
export const failures = {
  title: 'Failures',
  intro: 'Undelivered notifications by cause, the most frequent first.',
  code: 'Cause',
  provider: 'Provider',
  noProvider: 'None',
  channel: 'Channel',
  count: 'Notifications',
  newest: 'Newest',
  from: 'Accepted from',
  until: 'Accepted before',
  empty: 'No failures',
  emptyHint: 'Every accepted notification was delivered or is still waiting.',
  retryWithin: 'To retry failures, choose an organization.',
  durabilities: { permanent: 'Permanent', passing: 'May have passed', fixable: 'Needs a change' },
  retry: 'Retry',
  retryLabel: (code: string) => `Retry: ${code}`,
  retryTitle: 'Retry failed notifications',
  retryWhich: (code: string, provider: string | null) =>
    provider === null
      ? `Notifications that failed with ${code}.`
      : `Notifications that failed with ${code} at ${provider}.`,
  willRetry: (count: string) =>
    count === '1'
      ? '1 notification will be delivered again.'
      : `${count} notifications will be delivered again.`,
  nothing: 'There is nothing to retry.',
  skipped: {
    expired: (count: string) => `${count} have expired and stay as they are.`,
    unroutable: (count: string) => `${count} are for a channel without a provider and stay as they are.`,
    contentRemoved: (count: string) =>
      `${count} were sensitive and their text is gone. They stay as they are.`,
  },
  fixFirst: 'Retry once the cause is resolved. Whatever fails again appears here again.',
  start: (count: string) => `Retry ${count}`,
  progress: 'Progress of the retry',
  done: (count: string, all: string) => `${count} of ${all} are being delivered again.`,
  stopped: (count: string) => `Stopped. ${count} are being delivered again; the others stay as they are.`,
}
