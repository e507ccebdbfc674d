import type { NewNotification } from '../../../src/core/notification/notification.ts'
import type { ClaimedJob } from '../../../src/core/ports/storage/claim.ts'
import type { NotificationFilter } from '../../../src/core/ports/storage/notifications.ts'
import { eachIsFound, type Fault } from './storage-faults.ts'

const accepting =
  (change: (notification: NewNotification) => NewNotification): Fault =>
  (good) => ({
    ...good,
    accept: (requests) =>
      good.accept(
        requests.map((request) => ({ ...request, notifications: request.notifications.map(change) })),
      ),
  })

const listing =
  (change: (filter: NotificationFilter) => NotificationFilter): Fault =>
  (good) => ({
    ...good,
    notifications: {
      ...good.notifications,
      list: (filter, page) => good.notifications.list(change(filter), page),
    },
  })

const claiming =
  (change: (job: ClaimedJob) => ClaimedJob): Fault =>
  (good) => ({
    ...good,
    async claim(request) {
      const answer = await good.claim(request)
      return { ...answer, jobs: answer.jobs.map(change) }
    },
  })

const firstPair = (metadata: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(Object.entries(metadata).slice(0, 1))

eachIsFound({
  'metadata is lost': ['as they were given', accepting(({ metadata, ...one }) => one)],
  'a pair of metadata is lost': [
    'as they were given',
    accepting((one) => ({ ...one, ...(one.metadata && { metadata: firstPair(one.metadata) }) })),
  ],
  'the category is lost': ['as they were given', accepting(({ category, ...one }) => one)],
  'a claim loses the recipient': [
    'as they were given',
    claiming((job) =>
      job.kind === 'event' ? job : { ...job, notification: { ...job.notification, recipient: null } },
    ),
  ],
  'a filter looks at the first pair only': [
    'match all of them',
    listing(({ metadata, ...filter }) => ({ ...filter, ...(metadata && { metadata: firstPair(metadata) }) })),
  ],
  'a filter by recipient is ignored': ['by each label', listing(({ recipient, ...filter }) => filter)],
  'a filter by group is ignored': ['by each label', listing(({ groupId, ...filter }) => filter)],
  'the log ignores labels': [
    'the log is read by labels',
    (good) => ({
      ...good,
      logs: {
        ...good.logs,
        list: ({ metadata, category, groupId, ...filter }, page) => good.logs.list(filter, page),
      },
    }),
  ],
  'a retry ignores labels': [
    'a retry by labels',
    (good) => ({
      ...good,
      notifications: {
        ...good.notifications,
        retry: ({ filter: { metadata, ...filter }, ...request }) =>
          good.notifications.retry({ ...request, filter }),
      },
    }),
  ],
  'what is uncounted is counted': [
    'does not count what is uncounted',
    accepting(({ addressees, ...one }) => (addressees === 0 ? one : { ...one, addressees })),
  ],
  'what is uncounted is always admitted': [
    'the longest part whose counted ones fit',
    (good) => ({
      ...good,
      accept: (requests) =>
        good.accept(
          requests.map(({ notifications, ...request }) => ({
            ...request,
            notifications: notifications.toSorted(
              (a, b) => Number(b.addressees === 0) - Number(a.addressees === 0),
            ),
          })),
        ),
    }),
  ],
  'copies are not counted': [
    'the quota counts each addressee',
    accepting(({ addressees, ...one }) => (addressees === 0 ? { ...one, addressees } : one)),
  ],
  'the quota cuts a group': ['the quota admits a group as a whole', accepting(({ groupId, ...one }) => one)],
  'what is skipped can be retried': [
    'what is skipped is final',
    (good, state) => ({
      ...good,
      notifications: {
        ...good.notifications,
        async retry(request) {
          for (const one of state.notifications.values()) {
            if (one.status === 'skipped') one.status = 'failed'
          }
          return good.notifications.retry(request)
        },
      },
    }),
  ],
  'what is skipped comes again': [
    'what is skipped is final',
    (good) => ({
      ...good,
      settle: (settlements) =>
        good.settle(
          settlements.map((one) =>
            one.kind === 'notification' && one.facts.some(({ type }) => type === 'skipped')
              ? { ...one, next: { kind: 'retry', delayMs: 0 } }
              : one,
          ),
        ),
    }),
  ],
  'an attempt leaves the address as it was': [
    'at another address',
    (good) => ({ ...good, startAttempts: (refs) => good.startAttempts(refs.map(({ to, ...ref }) => ref)) }),
  ],
  'an attempt that does not begin changes the address': [
    'at another address',
    (good, state) => ({
      ...good,
      startAttempts(refs) {
        for (const { jobId, to } of refs) {
          const subject = state.jobs.get(jobId)?.subject
          if (to !== undefined) Object.assign(subject ?? {}, { recipient: to })
        }
        return good.startAttempts(refs)
      },
    }),
  ],
  'a report about a copy is one about the recipient': [
    'a bounce of a copy',
    (good) => ({
      ...good,
      recordReceipts: (receipts) =>
        good.recordReceipts(
          receipts.map((receipt) => {
            if ('consent' in receipt) return receipt
            const { address, ...fact } = receipt.fact
            return { ...receipt, fact }
          }),
        ),
    }),
  ],
})
