import type {
  DueAnswer,
  DueRequest,
  Records,
  RecordWrite,
  StoredRecord,
  WriteAnswer,
} from '../../../src/core/ports/storage/records.ts'
import { OPEN, organizationKind } from '../../../src/core/tenancy/organization.ts'
import { find } from '../../map-storage/records.ts'
import { type RecordRow, type State, where } from '../../map-storage/state.ts'
import { eachIsFound, type Fault, pause } from './storage-faults.ts'

type Write = Records['write']
type Sets = Parameters<Write>[0]

const records =
  (wrong: (good: Records, state: State) => Partial<Records>): Fault =>
  (good, state) => ({ ...good, records: { ...good.records, ...wrong(good.records, state) } })

const writing = (wrong: (write: Write, sets: Sets, state: State) => Promise<WriteAnswer[]>): Fault =>
  records((good, state) => ({ write: (sets) => wrong(good.write, sets, state) }))

const changing = (change: (write: RecordWrite, state: State) => RecordWrite): Fault =>
  writing((write, sets, state) => write(sets.map((set) => set.map((one) => change(one, state)))))

type ClaimDue = Records['claimDue']

const claiming = (
  wrong: (claimDue: ClaimDue, request: DueRequest, state: State) => Promise<DueAnswer>,
): Fault => records((good, state) => ({ claimDue: (request) => wrong(good.claimDue, request, state) }))

const unlimited = (one: RecordWrite): RecordWrite =>
  one.do === 'remove' ? one : { ...one, budget: undefined }

const rowOf = (state: State, { kind, id }: RecordWrite): RecordRow | undefined => find(state, kind, { id })

eachIsFound({
  'what is stored is counted without removals': [
    'what an organization stores is counted with every write',
    records((good) => {
      let most = 0
      return {
        async stored(organizationId) {
          most = Math.max(most, await good.stored(organizationId))
          return most
        },
      }
    }),
  ],
  'a budget is not looked at': ['a write beyond the budget is refused with its set', changing(unlimited)],
  'in a race a budget is looked at before': [
    'of ten writes in a race, as many fit',
    writing(async (write, sets, state) => {
      const before = state.records.length
      await pause()
      return write(state.records.length > before ? sets.map((set) => set.map(unlimited)) : sets)
    }),
  ],
  'an insert that keeps overwrites': [
    'an insert that keeps answers the stored record',
    writing((write, sets, state) => {
      for (const one of sets.flat()) {
        const row = rowOf(state, one)
        if (one.do === 'insert' && one.ifTaken === 'keep' && row !== undefined)
          Object.assign(row, { value: JSON.stringify(one.value) })
      }
      return write(sets)
    }),
  ],
  'an insert replaces what has its id': [
    'an id and a key are taken once',
    changing((one) => (one.do === 'insert' ? { ...one, ifTaken: 'keep' } : one)),
  ],
  'a stale replacement is stored': [
    'a replacement needs the revision that was read',
    changing((one, state) =>
      one.do === 'replace' ? { ...one, revision: rowOf(state, one)?.revision ?? one.revision } : one,
    ),
  ],
  'of replacements in a race several are stored': [
    'of ten replacements of one revision in a race',
    writing(async (write, sets, state) => {
      const before = new Map(state.records.map(({ id, revision }) => [id, revision]))
      await pause()
      for (const row of state.records) Object.assign(row, { revision: before.get(row.id) ?? row.revision })
      return write(sets)
    }),
  ],
  'the revision stays': [
    'a replacement needs the revision that was read',
    writing(async (write, sets, state) => {
      const answers = await write(sets)
      for (const row of state.records) Object.assign(row, { revision: 1 })
      return answers
    }),
  ],
  'a set is stored in part': [
    'a set is stored whole or not at all',
    writing(async (write, sets) => {
      const answers: WriteAnswer[] = []
      for (const set of sets) {
        const stored: (StoredRecord | null)[] = []
        let refused: WriteAnswer | undefined
        for (const [at, one] of set.entries()) {
          const [answer] = await write([[one]])
          if (answer?.kind === 'written') stored.push(...answer.records)
          else if (answer !== undefined && 'at' in answer) refused ??= { ...answer, at }
          else refused ??= answer
        }
        answers.push(refused ?? { kind: 'written', records: stored })
      }
      return answers
    }),
  ],
  'one set that is refused takes the others of its call along': [
    'a set is stored whole or not at all',
    writing(async (write, sets) => {
      const answers = await write(sets)
      return answers.map((answer) => answers.find(({ kind }) => kind !== 'written') ?? answer)
    }),
  ],
  'a key is taken twice in a race': [
    'of ten inserts of one key or one id in a race',
    writing(async (write, sets, state) => {
      const known = state.records
      await pause()
      for (const row of state.records) if (!known.includes(row)) Object.assign(row, { key: null })
      return write(sets)
    }),
  ],
  'a key forgets its organization': [
    'records are found by id and by key, in order',
    changing((one) =>
      one.kind.key === undefined || one.do === 'remove'
        ? one
        : { ...one, kind: { ...one.kind, key: (value) => one.kind.key?.(value, 'all') ?? null } },
    ),
  ],
  'the version of the kind is lost': [
    'a replacement by an older version',
    writing(async (write, sets, state) => {
      const answers = await write(sets)
      for (const one of sets.flat()) Object.assign(rowOf(state, one) ?? {}, { version: one.kind.version })
      return answers
    }),
  ],
  'a value is upgraded again': [
    'is not upgraded again',
    writing(async (write, sets, state) => {
      const answers = await write(sets)
      for (const row of state.records) Object.assign(row, { version: 1 })
      return answers
    }),
  ],
  'an organization that is being deleted gets records': [
    'from its begin on nothing is accepted',
    writing(async (write, sets, state) => {
      const organizations = where(state.records, { kind: organizationKind.name })
      const lists = organizations.map(({ list }) => list)
      for (const row of organizations) Object.assign(row, { list: OPEN })
      const answers = await write(sets)
      for (const [index, row] of organizations.entries()) Object.assign(row, { list: lists[index] })
      return answers
    }),
  ],
  'an unknown organization gets records': [
    'a record needs an organization that exists',
    changing((one) =>
      one.do === 'insert' && one.organizationId === 'org_unknown' ? { ...one, organizationId: null } : one,
    ),
  ],
  'a removal ignores fields': [
    'a removal can be limited',
    changing((one) => (one.do === 'remove' ? { ...one, only: undefined } : one)),
  ],
  'a removed record is still there': [
    'a removed record is gone',
    writing(async (write, sets, state) => {
      const removed = sets.flat().flatMap((one) => (one.do === 'remove' ? (rowOf(state, one) ?? []) : []))
      const answers = await write(sets)
      state.records = [...new Set([...state.records, ...removed])]
      return answers
    }),
  ],
  'records are answered in another order': [
    'records are found by id and by key, in order',
    records((good) => ({ get: async (kind, refs) => (await good.get(kind, refs)).reverse() })),
  ],
  'records are read from a cache': [
    'what one instance changes the other reads',
    records((good) => {
      const cache = new Map<string, unknown>()
      return {
        async get(kind, refs) {
          const name = JSON.stringify([kind.name, kind.version, refs])
          if (!cache.has(name)) cache.set(name, await good.get(kind, refs))
          return cache.get(name) as Awaited<ReturnType<typeof good.get<never>>>
        },
      }
    }),
  ],
  'a list holds the records of all lists': [
    'each list of an organization is its own',
    records((good) => ({ list: (kind, of, page) => good.list(kind, { ...of, list: undefined }, page) })),
  ],
  'more old records are removed than asked for': [
    "old records are removed by the storage's clock",
    records((good) => ({ removeOld: (kind, of) => good.removeOld(kind, { ...of, most: of.most + 1 }) })),
  ],
  'young records are removed with the old': [
    "old records are removed by the storage's clock",
    records((good) => ({ removeOld: (kind, of) => good.removeOld(kind, { ...of, olderThanMs: 0 }) })),
  ],
  'a claim of due records is of all that wait': [
    'a record falls due at its time, and not before',
    claiming((claimDue, request, state) => {
      const times = new Map(state.records.map(({ id, due }) => [id, due]))
      for (const row of state.records) if (row.due !== null) Object.assign(row, { due: 0 })
      return claimDue(request).then((answer) => {
        for (const row of state.records)
          if (row.token === null) Object.assign(row, { due: times.get(row.id) })
        return answer
      })
    }),
  ],
  'a claim of due records leases nothing': [
    'ten claims at once take each record once, under tokens of their own',
    claiming((claimDue, request, state) => {
      const before = state.records
      const answer = claimDue(request)
      state.records = before
      return answer
    }),
  ],
  'due records are claimed without turns': [
    'organizations take turns, and the next claim continues them',
    claiming((claimDue, request, state) => {
      state.turns.clear()
      return claimDue(request)
    }),
  ],
  'a repeated claim has the first lease': [
    'a claim that brought no result is repeated, counted and leased for longer',
    claiming(async (claimDue, request, state) => {
      for (const row of state.records) Object.assign(row, { claims: 0 })
      return claimDue(request)
    }),
  ],
  'a result is stored under an ended claim': [
    'a result under an older claim stores nothing of its set',
    changing((one) => (one.do === 'insert' ? one : { ...one, token: undefined })),
  ],
  'a replacement leaves the claim': [
    'any other write ends a claim',
    writing(async (write, sets, state) => {
      const tokens = new Map(state.records.map(({ id, token }) => [id, token]))
      const answers = await write(sets)
      for (const row of state.records) Object.assign(row, { token: tokens.get(row.id) ?? row.token })
      return answers
    }),
  ],
  'records of a deleted organization fall due': [
    'nothing of an organization that is being deleted is due',
    claiming(async (claimDue, request, state) => {
      const rows = where(state.records, { kind: organizationKind.name })
      const lists = rows.map(({ list }) => list)
      for (const row of rows) Object.assign(row, { list: OPEN })
      const answer = await claimDue(request)
      for (const [index, row] of rows.entries()) Object.assign(row, { list: lists[index] })
      return answer
    }),
  ],
  'records without a due time of their kind never fall due': [
    'records that were stored before their kind fell due become due',
    claiming((claimDue, request, state) => {
      for (const row of state.records) Object.assign(row, { due_revision: row.revision })
      return claimDue(request)
    }),
  ],
  'the next due time is not told': [
    'a claim takes at most as many as it asks for, and says that more are due',
    claiming(async (claimDue, request) => ({ ...(await claimDue(request)), nextDueInMs: null })),
  ],
})
