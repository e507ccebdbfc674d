import type { ExpireAnswer, ExpireRequest } from '../../../src/core/ports/storage/expire.ts'
import type { State } from '../../map-storage/state.ts'
import { eachIsFound, type Fault } from './storage-faults.ts'

/** @param wrong of each dry run */
const counting =
  (wrong: (answer: ExpireAnswer, request: ExpireRequest, state: State) => ExpireAnswer): Fault =>
  (good, state) => ({
    ...good,
    async expire(request) {
      const answer = await good.expire(request)
      return request.what.dryRun ? wrong(answer, request, state) : answer
    },
  })

const RUN = 'a dry run of retention counts what a run then removes'
const CONTENTS = 'a dry run of contents counts each once'

eachIsFound({
  'a dry run removes': [
    RUN,
    (good) => ({
      ...good,
      expire: (request) => good.expire({ ...request, what: { ...request.what, dryRun: undefined } }),
    }),
  ],
  'a dry run removes jobs': [
    RUN,
    counting((answer, _request, state) => {
      state.jobs.clear()
      return answer
    }),
  ],
  'a dry run counts all that is old enough': [
    RUN,
    counting((answer, { after }) => ({
      ...answer,
      removed: { ...answer.removed, notifications: (answer.removed.notifications ?? 0) + (after ? 0 : 1) },
    })),
  ],
  'a dry run counts events about endpoints in each step': [
    RUN,
    counting((answer, { after }) => ({
      ...answer,
      removed: { ...answer.removed, deliveries: (answer.removed.deliveries ?? 0) + (after ? 1 : 0) },
    })),
  ],
  'a dry run does not say what is the oldest': [
    RUN,
    counting((answer) => ({ ...answer, oldest: undefined })),
  ],
  'a dry run counts a content for each of its events': [
    CONTENTS,
    (good, state) => ({
      ...good,
      async expire(request) {
        const { what } = request
        if (what.contentsOlderThanMs === undefined || !what.dryRun) return good.expire(request)
        const copies = [...state.notifications.values()].map((row) => [row, { ...row }] as const)
        const answer = await good.expire({ ...request, what: { ...what, dryRun: false } })
        for (const [row, copy] of copies) Object.assign(row, copy)
        return answer
      },
    }),
  ],
  'a dry run of contents begins with the oldest event': [
    CONTENTS,
    counting((answer, { after }) => ({
      ...answer,
      removed: { ...answer.removed, contents: (answer.removed.contents ?? 0) + (after ? 1 : 0) },
    })),
  ],
})
