import { NotifierError } from '../../../src/core/errors/notifier-error.ts'
import type { Storage } from '../../../src/core/ports/storage/storage.ts'
import { eachIsFound, type Fault, type Faults } from './storage-faults.ts'

/* Nothing of a storage in memory can go wrong at its commit. Here every verb that writes has one that can. */

/** What each verb answers if all is well. */
const SAID = {
  'an accept': [{ kind: 'accepted', admitted: 2, createdAt: 1 }],
  'the start of an attempt': [true],
  'a settlement': [{ kind: 'settled', events: [] }],
  'a report': [{ kind: 'recorded', notificationId: '', events: [] }],
  'a cancellation': { kind: 'cancelled', events: [] },
  'a set of records': [{ kind: 'written', records: [] }],
} as const

type What = keyof typeof SAID

/** One call whose commit goes wrong: `store` stores it and answers. */
type Wrong = (what: What, store: () => Promise<unknown>) => Promise<unknown>

let armed: 'fails' | 'loses its answer' | undefined

function arm(way: typeof armed): () => boolean {
  armed = way
  return () => armed === undefined
}

/** A storage with these commits when one is armed. */
const withCommits =
  (fails: Wrong, losesAnswer: Wrong): Fault =>
  (good): Storage => {
    function committing<Args extends readonly unknown[], Answer>(
      what: What,
      verb: (...args: Args) => Promise<Answer>,
    ): (...args: Args) => Promise<Answer> {
      return (...args) => {
        const way = armed
        armed = undefined
        if (way === undefined) return verb(...args)
        return (way === 'fails' ? fails : losesAnswer)(what, () => verb(...args)) as Promise<Answer>
      }
    }
    return {
      ...good,
      accept: committing('an accept', good.accept),
      startAttempts: committing('the start of an attempt', good.startAttempts),
      settle: committing('a settlement', good.settle),
      recordReceipts: committing('a report', good.recordReceipts),
      notifications: {
        ...good.notifications,
        cancel: committing('a cancellation', good.notifications.cancel),
      },
      records: { ...good.records, write: committing('a set of records', good.records.write) },
    }
  }

const unavailable: Wrong = async () => {
  throw new NotifierError('service_unavailable', { message: 'The disk is full.' })
}
const answered: Wrong = (_what, store) => store()

const FAILS: Readonly<Record<string, Wrong>> = {
  'a commit that fails is answered as if it were stored': async (what) => SAID[what],
  'a commit that fails is stored': async (what, store) => {
    await store()
    return unavailable(what, store)
  },
  'a commit that fails rejects with the error of the database': async () => {
    throw new Error('SQLITE_FULL')
  },
}

const LOSES_ANSWER: Readonly<Record<string, Wrong>> = {
  'a commit without an answer rejects with the error of the database': async (_what, store) => {
    await store()
    throw new Error('Connection terminated unexpectedly')
  },
  'a commit without an answer is repeated': async (_what, store) => {
    await store()
    return store()
  },
  'a commit without an answer is taken to be stored': async (what) => SAID[what],
}

const ofEach = (wrongs: typeof FAILS, title: string, fault: (wrong: Wrong) => Fault): Faults =>
  Object.fromEntries(
    Object.entries(wrongs).flatMap(([name, wrong]) =>
      Object.keys(SAID).map((what) => [`${name} (${what})`, [`${what} ${title}`, fault(wrong)] as const]),
    ),
  )

/** Rejected, which the start of an attempt alone may be. */
const saidToFail: Wrong = async (what, store) => {
  await store()
  return what === 'the start of an attempt' ? [false] : unavailable(what, store)
}

eachIsFound(
  {
    ...ofEach(FAILS, 'whose commit fails', (wrong) => withCommits(wrong, answered)),
    ...ofEach(
      { 'a commit without an answer is said to have failed': saidToFail },
      'whose commit is not answered',
      (wrong) => withCommits(unavailable, wrong),
    ),
    ...ofEach(LOSES_ANSWER, 'whose commit is not answered', (wrong) => withCommits(unavailable, wrong)),
  },
  withCommits(unavailable, answered),
  (harness) => ({
    ...harness,
    failNextCommit: () => arm('fails'),
    loseCommitAnswer: () => arm('loses its answer'),
  }),
)
