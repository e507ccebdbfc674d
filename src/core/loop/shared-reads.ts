import type { Storage } from '../ports/storage/storage.ts'
import type { Processor } from './processor.ts'
import { once } from './steps.ts'

/**
 * The same storage, whose lists are read in their organization's share of the processor: SQLite blocks the event loop
 * while it reads a page, and an organization may ask for many at once.
 */
export function sharedReads(storage: Storage<unknown>, { share }: Processor): Storage<unknown> {
  const { notifications, logs } = storage
  return {
    ...storage,
    notifications: {
      ...notifications,
      list: async (filter, page) =>
        share(filter.organizationId)(once(() => notifications.list(filter, page))),
      failures: async (span, page) =>
        share(span.organizationId)(once(() => notifications.failures(span, page))),
    },
    logs: {
      ...logs,
      list: async (filter, page) => share(filter.organizationId)(once(() => logs.list(filter, page))),
    },
  }
}
