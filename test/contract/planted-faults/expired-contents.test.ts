import type { ExpiringContents } from '../../../src/core/ports/storage/expire.ts'
import type { NotificationRow, State } from '../../map-storage/state.ts'
import { eachIsFound, type Fault } from './storage-faults.ts'

/** @param wrong of what is asked */
const asking =
  (wrong: (what: ExpiringContents) => ExpiringContents): Fault =>
  (good) => ({
    ...good,
    expire: (request) =>
      request.what.contentsOlderThanMs === undefined
        ? good.expire(request)
        : good.expire({ ...request, what: wrong(request.what) }),
  })

/** @param wrong gets the rows whose content was removed */
const removing =
  (wrong: (rows: readonly (readonly [NotificationRow, NotificationRow])[], state: State) => void): Fault =>
  (good, state) => ({
    ...good,
    async expire(request) {
      const before = [...state.notifications.values()].map((row) => [row, { ...row }] as const)
      const answer = await good.expire(request)
      if (request.what.contentsOlderThanMs === undefined) return answer
      const changed = before.filter(([row, copy]) => row.content !== copy.content)
      wrong(changed, state)
      return answer
    },
  })

const OLD = 'old contents go, and their notifications stay'
const LATER = 'contents of what waits, or has a younger event'

eachIsFound({
  'a content goes too early': [
    OLD,
    asking((what) => ({ ...what, contentsOlderThanMs: what.contentsOlderThanMs - 120_000 })),
  ],
  'a content goes too late': [
    OLD,
    asking((what) => ({ ...what, contentsOlderThanMs: what.contentsOlderThanMs + 60_000 })),
  ],
  'attachments stay': [
    OLD,
    removing((rows) => {
      for (const [row, { attachments }] of rows) Object.assign(row, { attachments })
    }),
  ],
  'uploads stay named': [
    'a content that has expired names no upload',
    removing((rows) => {
      for (const [row, { uploads }] of rows) Object.assign(row, { uploads })
    }),
  ],
  'the history goes, too': [
    OLD,
    removing((rows, state) => {
      const gone = rows.map(([row]) => row)
      state.events = state.events.filter(({ notification }) => !gone.includes(notification))
    }),
  ],
  'contents of all organizations go': [
    OLD,
    removing((rows, state) => {
      for (const [{ content }] of rows)
        for (const row of state.notifications.values())
          if (!state.jobs.has(row.id)) Object.assign(row, { content })
    }),
  ],
  'the content of what waits goes': [
    LATER,
    removing((rows, state) => {
      for (const [{ content }] of rows)
        for (const row of state.notifications.values()) Object.assign(row, { content })
    }),
  ],
  'a run does not say where it ended': [
    LATER,
    (good) => ({
      ...good,
      expire: async (request) => ({ ...(await good.expire(request)), reached: undefined }),
    }),
  ],
  'a run begins with the oldest event': [
    LATER,
    (good) => ({
      ...good,
      expire: (request) =>
        good.expire(
          request.what.contentsOlderThanMs !== undefined && request.most > 1
            ? { ...request, after: undefined }
            : request,
        ),
    }),
  ],
  'a removed content is retried': [
    'what lost its content by age is not retried',
    removing((rows) => {
      for (const [row, { content }] of rows) Object.assign(row, { content })
    }),
  ],
})
