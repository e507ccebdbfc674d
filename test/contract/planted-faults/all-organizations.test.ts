import { toNotification } from 'carillon/storage-kit'
import type { LogRepository } from '../../../src/core/ports/storage/logs.ts'
import type { NotificationRepository } from '../../../src/core/ports/storage/notifications.ts'
import type { Page, PageRequest } from '../../../src/core/ports/storage/page.ts'
import { ALL_ORGANIZATIONS } from '../../../src/core/tenancy/all-organizations.ts'
import { DEFAULT_ORGANIZATION } from '../../../src/core/tenancy/organization.ts'
import type { NotificationRow } from '../../map-storage/state.ts'
import { eachIsFound, type Fault } from './storage-faults.ts'

const isAll = ({ organizationId }: { readonly organizationId: string }): boolean =>
  organizationId === ALL_ORGANIZATIONS

/** Breaks the list of notifications, only over all organizations. */
const listing =
  (wrong: (list: NotificationRepository['list']) => NotificationRepository['list']): Fault =>
  (good) => {
    const { list } = good.notifications
    const broken = wrong(list)
    return {
      ...good,
      notifications: {
        ...good.notifications,
        list: (filter, page) => (isAll(filter) ? broken : list)(filter, page),
      },
    }
  }

const logging =
  (wrong: (logs: LogRepository) => Partial<LogRepository>): Fault =>
  (good) => {
    const broken = { ...good.logs, ...wrong(good.logs) }
    const { list, count } = good.logs
    return {
      ...good,
      logs: {
        list: (filter, page) => (isAll(filter) ? broken.list : list)(filter, page),
        count: (span, most) => (isAll(span) ? broken.count : count)(span, most),
      },
    }
  }

/** Takes rows of a page away that were accepted in the moment of the last row of the page before. */
function skippingMoments<Row>(
  list: (scope: never, page: PageRequest) => Promise<Page<Row>>,
  momentOf: (row: Row) => string | number,
): (scope: never, page: PageRequest) => Promise<Page<Row>> {
  const lastOf = new Map<string, string | number>()
  return async (scope, page) => {
    const found = await list(scope, page)
    const last = found.items.at(-1)
    if (found.nextCursor !== null && last !== undefined) lastOf.set(found.nextCursor, momentOf(last))
    const skipped = lastOf.get(page.cursor ?? '')
    return { ...found, items: found.items.filter((row) => momentOf(row) !== skipped) }
  }
}

const momentOf = (id: string): string => id.slice(0, 'notif_'.length + 13)

eachIsFound({
  'a page over all skips a row at the time of the last one': [
    'are listed with their owners, by id',
    listing((list) => skippingMoments(list, ({ id }) => momentOf(id))),
  ],
  'a page of failures over all skips a row at the time of the last one': [
    'what failed is listed and found over all organizations',
    (good) => {
      const { failures } = good.notifications
      const broken = skippingMoments(failures, ({ createdAt }) => createdAt)
      const wrong: NotificationRepository['failures'] = (span, page) =>
        (isAll(span) ? broken : failures)(span as never, page)
      return { ...good, notifications: { ...good.notifications, failures: wrong } }
    },
  ],
  'a page of the log over all skips a notification at the time of the last one': [
    'of all organizations',
    logging(({ list }) => ({
      list: skippingMoments(list, ({ notificationId: id }) => momentOf(id)),
    })),
  ],
  'lists over all keep a deleted organization': [
    'over all organizations, what a deletion removes is gone',
    (good, state) => {
      const kept = new Map<string, NotificationRow>()
      return {
        ...good,
        notifications: {
          ...good.notifications,
          async list(filter, page) {
            if (!isAll(filter)) return good.notifications.list(filter, page)
            for (const [id, row] of state.notifications) kept.set(id, row)
            const items = [...kept.values()].map((row) => toNotification({ ...row, attachments: null }))
            return { items, nextCursor: null }
          },
        },
      }
    },
  ],
  'a count over all keeps a deleted organization': [
    'over all organizations, what a deletion removes is gone',
    logging(({ count }) => {
      let most = 0
      return {
        async count(span, limit) {
          const counted = await count(span, limit)
          most = Math.max(most, counted.accepted)
          return { ...counted, accepted: most }
        },
      }
    }),
  ],
  'a list over all ignores its cursor': [
    'are listed with their owners, by id',
    listing((list) => (filter, page) => list(filter, { ...page, cursor: undefined })),
  ],
  'a list over all has one organization': [
    'are listed with their owners, by id',
    listing((list) => (filter, page) => list({ ...filter, organizationId: DEFAULT_ORGANIZATION }, page)),
  ],
  'a list over all has the order of accepts': [
    'are listed with their owners, by id',
    listing((list) => async (filter, page) => {
      const found = await list(filter, page)
      return { ...found, items: found.items.toSorted((a, b) => b.createdAt - a.createdAt) }
    }),
  ],
  'a filter of labels is ignored over all': [
    'are filtered as those of one',
    listing(
      (list) =>
        ({ metadata: _, ...filter }, page) =>
          list(filter, page),
    ),
  ],
  'a time over all is that of the accept': [
    'are bounded by the times in ids',
    listing((list) => async ({ from = 0, until = Infinity, ...filter }, page) => {
      const found = await list(filter, page)
      return { ...found, items: found.items.filter(({ createdAt: at }) => at >= from && at < until) }
    }),
  ],
  'a page over all begins with the last row of the one before': [
    'neither repeats nor hides',
    listing((list) => async (filter, page) => {
      const found = await list(filter, { ...page, limit: Math.max(1, page.limit - 1) })
      return { ...found, items: [...found.items, ...found.items.slice(-1)] }
    }),
  ],
  'a list over all ends with the first page that is not full': [
    'far apart is found over all organizations',
    listing((list) => async (filter, page) => {
      const found = await list(filter, page)
      return found.items.length < page.limit ? { ...found, nextCursor: null } : found
    }),
  ],
  'a cursor of one organization is taken over all': [
    'refuse the cursors of each other',
    listing(
      (list) => (filter, page) =>
        list(filter, page).catch(() => list(filter, { ...page, cursor: undefined })),
    ),
  ],
  'failures over all are those of one organization': [
    'what failed is listed and found over all organizations',
    (good) => ({
      ...good,
      notifications: {
        ...good.notifications,
        failures: (span, page) =>
          good.notifications.failures(
            isAll(span) ? { ...span, organizationId: DEFAULT_ORGANIZATION } : span,
            page,
          ),
      },
    }),
  ],
  'the log over all has the order of time': [
    'has the entries of each notification together',
    logging(({ list }) => ({
      async list(filter, page) {
        const found = await list(filter, page)
        return { ...found, items: found.items.toSorted((a, b) => b.at - a.at) }
      },
    })),
  ],
  'a count over all is of one organization': [
    'is counted over all organizations',
    logging(({ count }) => ({
      count: (span, most) => count({ ...span, organizationId: DEFAULT_ORGANIZATION }, most),
    })),
  ],
  'a count over all has no limit': [
    'is counted over all organizations',
    logging(({ count }) => ({ count: (span) => count(span, 1e9) })),
  ],
})
