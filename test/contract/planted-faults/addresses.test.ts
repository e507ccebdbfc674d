import type {
  NotificationFilter,
  NotificationRepository,
} from '../../../src/core/ports/storage/notifications.ts'
import { ALL_ORGANIZATIONS } from '../../../src/core/tenancy/all-organizations.ts'
import { eachIsFound, type Fault } from './storage-faults.ts'

const repository =
  (wrong: (good: NotificationRepository) => Partial<NotificationRepository>): Fault =>
  (good) => ({ ...good, notifications: { ...good.notifications, ...wrong(good.notifications) } })

/** A storage that reads another filter. */
const listing = (change: (filter: NotificationFilter) => NotificationFilter): Fault =>
  repository(({ list }) => ({ list: (filter, page) => list(change(filter), page) }))

/** A storage that leaves out what this says of an address and a filter. */
const leavingOut = (isOut: (address: string, filter: NotificationFilter) => boolean): Fault =>
  repository(({ list }) => ({
    async list(filter, page) {
      const found = await list(filter, page)
      return { ...found, items: found.items.filter(({ to }) => !isOut(to, filter)) }
    },
  }))

/** A storage whose prefixes match whatever this says. */
const matching = (matches: (address: string, prefix: string) => boolean): Fault =>
  repository(({ list }) => ({
    async list({ toPrefix, ...filter }, page) {
      const found = await list(filter, page)
      return {
        ...found,
        items: found.items.filter(({ to }) => matches(to.toLowerCase(), toPrefix?.toLowerCase() ?? '')),
      }
    },
  }))

/** LIKE without an escape. */
const pattern = (prefix: string): RegExp =>
  new RegExp(
    `^${prefix
      .replace(/[+*\\[\](){}.^$|?]/g, '\\$&')
      .replaceAll('_', '.')
      .replaceAll('%', '.*')}`,
  )

eachIsFound({
  'an address is compared as sent': [
    'filtered by an address',
    leavingOut((address, { to }) => to !== undefined && address !== to),
  ],
  'an address is compared by its beginning': [
    'filtered by an address',
    listing(({ to, ...filter }) => ({ ...filter, ...(to !== undefined && { toPrefix: to }) })),
  ],
  'a prefix is ignored': ['how an address begins', listing(({ toPrefix, ...filter }) => filter)],
  'a prefix is compared as sent': [
    'how an address begins',
    leavingOut((address, { toPrefix = '' }) => !address.startsWith(toPrefix)),
  ],
  'a prefix matches anywhere': [
    'how an address begins',
    matching((address, prefix) => address.includes(prefix)),
  ],
  'an address beside a prefix is ignored': [
    'how an address begins',
    listing(({ to, ...filter }) => (filter.toPrefix === undefined ? { ...filter, to } : filter)),
  ],
  'a prefix is a pattern': [
    'stands for others',
    matching((address, prefix) => pattern(prefix).test(address)),
  ],
  'all letters are compared without their case': [
    'stands for others',
    repository(({ list }) => ({
      list: ({ to, toPrefix, ...filter }, page) =>
        list({ ...filter, to: to?.replace('Ü', 'ü'), toPrefix: toPrefix?.replace('Ü', 'ü') }, page),
    })),
  ],
  'an address is looked for in all organizations': [
    'found in its organization',
    listing((filter) =>
      filter.toPrefix === undefined ? filter : { ...filter, organizationId: ALL_ORGANIZATIONS },
    ),
  ],
  'an address is not looked for over all organizations': [
    'found in its organization',
    leavingOut((_address, { toPrefix, organizationId }) =>
      toPrefix === undefined ? false : organizationId === ALL_ORGANIZATIONS,
    ),
  ],
  'pages of an address are in its order': [
    'pages of one address',
    repository(({ list }) => ({
      async list(filter, page) {
        const found = await list(filter, page)
        return { ...found, items: found.items.toSorted((one, other) => (one.to < other.to ? 1 : -1)) }
      },
    })),
  ],
  'the next page of an address skips one': [
    'pages of one address',
    repository(({ list }) => ({
      async list(filter, page) {
        const found = await list(filter, page)
        return page.cursor === undefined ? found : { ...found, items: found.items.slice(1) }
      },
    })),
  ],
  'a retry ignores a prefix': [
    'retried by address',
    repository(({ retry }) => ({
      retry: ({ filter: { toPrefix, ...filter }, ...request }) => retry({ ...request, filter }),
    })),
  ],
})
