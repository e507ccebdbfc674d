import { ERASED_ADDRESS } from '../../../src/core/notification/erased-fact.ts'
import { erasedAttempt, erasedContent, erasedPayload } from '../../../src/core/notification/erasure.ts'
import { type NotificationEvent, OTHER_EVENT_IDS } from '../../../src/core/notification/event-payload.ts'
import type {
  CustodyRepository,
  EraseCopiesRequest,
  ErasedStep,
  ReportsPage,
  ReportsRequest,
} from '../../../src/core/ports/storage/custody.ts'
import { decodeCursor, encodeCursor } from '../../../src/core/records/cursor.ts'
import { DEFAULT_ORGANIZATION } from '../../../src/core/tenancy/organization.ts'
import { erasedColumns, erasedErrorText, erasedFactText } from '../rows/erased.ts'
import { createTally, ROW_COST } from '../tally.ts'
import type { Addresses } from './addresses.ts'
import { createCancelWaiting } from './cancel-waiting.ts'
import type { Connection } from './connection.ts'
import type { Deliveries, Publisher } from './deliveries.ts'
import { type AddFacts, FACT_COLUMNS, type NotificationRow, WITH_NEWEST_EVENT } from './facts.ts'
import { createRemove, OWN_EVENTS } from './remove.ts'
import { createSetContent } from './set-content.ts'

/** Walks the ids, in their order. */
const SELECT_OWN = `
  SELECT ${FACT_COLUMNS}, octet_length(n.content) AS bytes, j.id AS job,
    coalesce(j.state = 2, 0) OR EXISTS (
      SELECT 1 FROM carillon_deliveries AS d CROSS JOIN carillon_jobs AS o ON o.id = 2 * d.id + 1
      WHERE ${OWN_EVENTS('substr(n.id, 7)')} AND o.state = 2) AS busy
  FROM json_each(?) AS g CROSS JOIN carillon_notifications AS n ON n.id = g.value ${WITH_NEWEST_EVENT}
  LEFT JOIN carillon_jobs AS j ON j.id = 2 * n.seq
  WHERE +n.organization = ?`

const SELECT = `${SELECT_OWN} AND n.recipient <> '${ERASED_ADDRESS}'`

/** With copies to one of the addresses. */
const SELECT_COPIED = `${SELECT_OWN}
  AND EXISTS (SELECT 1 FROM carillon_copies AS c
    WHERE c.notification = n.seq AND c.address IN (SELECT value FROM json_each(?)))`

const SELECT_CONTENT = 'SELECT content FROM carillon_notifications WHERE seq = ?'

const SET_TEXT = 'UPDATE carillon_notifications SET content = ? WHERE seq = ?'

const UPDATE_LABELS = `
  UPDATE carillon_notifications SET person = NULL, metadata = NULL, trace = NULL WHERE seq = ?`

const SELECT_EVENTS = 'SELECT sequence, fact, error FROM carillon_events WHERE notification = ?'

/** Only the columns of the newest event are read. */
const UPDATE_EVENT = `
  UPDATE carillon_events SET fact = ?, fold = ?, provider_message_id = NULL, error = ?
  WHERE notification = ? AND sequence = ?`

const UPDATE_TEXTS = 'UPDATE carillon_events SET fact = ?, error = ? WHERE notification = ? AND sequence = ?'

const SELECT_DELIVERIES = `
  SELECT id, payload FROM carillon_deliveries WHERE ${OWN_EVENTS('?')}`

const UPDATE_DELIVERY = 'UPDATE carillon_deliveries SET payload = ?, trace = NULL WHERE id = ?'

const SELECT_ATTEMPTS = 'SELECT id, attempt FROM carillon_delivery_attempts WHERE delivery = ?'

const UPDATE_ATTEMPT = 'UPDATE carillon_delivery_attempts SET attempt = ? WHERE id = ?'

const DELETE_COPIES = `
  DELETE FROM carillon_copies WHERE notification = ? AND address IN (SELECT value FROM json_each(?))`

/** The first delivery of each event. */
const SELECT_MESSAGES = `
  SELECT d.id, d.event_id, d.created_at, d.payload,
    d.event_type = 'message.received' AND NOT EXISTS (
      SELECT 1 FROM carillon_deliveries AS o WHERE o.event_id = d.event_id AND o.id < d.id) AS shown
  FROM carillon_deliveries AS d
  WHERE event_id >= '${OTHER_EVENT_IDS.from}' AND event_id < '${OTHER_EVENT_IDS.until}'
    AND organization = ? AND (created_at, id) > (?, ?) ORDER BY created_at, id LIMIT ?`

const SELECT_UNMATCHED = `
  SELECT id, fact, received_at, coalesce(organization, '${DEFAULT_ORGANIZATION}') = ? AS shown
  FROM carillon_unmatched_receipts WHERE id > ? ORDER BY id LIMIT ?`

const SELECT_RECEIVED = `
  SELECT id, event_id FROM carillon_deliveries
  WHERE event_id IN (SELECT value FROM json_each(?)) AND organization = ? AND event_type = 'message.received'`

const DELETE_UNMATCHED = `
  DELETE FROM carillon_unmatched_receipts
  WHERE id IN (SELECT CAST(value AS INTEGER) FROM json_each(?)) AND coalesce(organization, '${DEFAULT_ORGANIZATION}') = ?`

interface FoundRow extends NotificationRow {
  readonly bytes: number
  /** Null: it has none. */
  readonly job: number | null
  readonly busy: 0 | 1
}

interface EventRow {
  readonly sequence: number
  readonly fact: string
  readonly error: string | null
}

interface MessageRow {
  readonly id: number
  readonly event_id: string
  readonly created_at: number
  readonly payload: string
  readonly shown: 0 | 1
}

interface UnmatchedRow {
  readonly id: number
  readonly fact: string
  readonly received_at: number
  readonly shown: 0 | 1
}

export function createCustody(
  connection: Connection,
  parts: {
    readonly addFacts: AddFacts
    readonly deliveries: Deliveries
    readonly addresses: Pick<Addresses, 'change'>
  },
): CustodyRepository {
  const { addFacts, addresses } = parts
  const cancelWaiting = createCancelWaiting(connection, addFacts)
  const select = connection.statement<FoundRow>(SELECT)
  const selectCopied = connection.statement<FoundRow>(SELECT_COPIED)
  const selectContent = connection.statement<{ content: string }>(SELECT_CONTENT)
  const setText = connection.statement(SET_TEXT)
  const updateLabels = connection.statement(UPDATE_LABELS)
  const selectEvents = connection.statement<EventRow>(SELECT_EVENTS)
  const updateEvent = connection.statement(UPDATE_EVENT)
  const updateTexts = connection.statement(UPDATE_TEXTS)
  const selectDeliveries = connection.statement<{ id: number; payload: string }>(SELECT_DELIVERIES)
  const updateDelivery = connection.statement(UPDATE_DELIVERY)
  const selectAttempts = connection.statement<{ id: number; attempt: string }>(SELECT_ATTEMPTS)
  const updateAttempt = connection.statement(UPDATE_ATTEMPT)
  const deleteCopies = connection.statement(DELETE_COPIES)
  const selectMessages = connection.statement<MessageRow>(SELECT_MESSAGES)
  const selectUnmatched = connection.statement<UnmatchedRow>(SELECT_UNMATCHED)
  const selectReceived = connection.statement<{ id: number; event_id: string }>(SELECT_RECEIVED)
  const deleteUnmatched = connection.statement(DELETE_UNMATCHED)
  const remove = createRemove(connection)
  const setContent = createSetContent(connection)

  const contentOf = (seq: number) => JSON.parse(selectContent().get(seq)?.content ?? '{}')

  /** Returns the number of rows. */
  function eraseEvents(row: NotificationRow, erased: NotificationRow): number {
    const events = selectEvents().all(row.seq)
    for (const { sequence, fact } of events) {
      const { fold, error } = sequence === row.sequence ? erased : { fold: null, error: null }
      updateEvent().run(erasedFactText(fact), fold, error, row.seq, sequence)
    }
    return events.length
  }

  /** @param addresses only what names them. Returns the number of deliveries, and of rows */
  function eraseDeliveries(
    id: string,
    addresses?: readonly string[],
  ): readonly [deliveries: number, rows: number] {
    const digits = id.slice('notif_'.length)
    const found = selectDeliveries().all(digits, digits)
    let rows = found.length
    for (const { id: delivery, payload } of found) {
      const erased = erasedPayload(payload, addresses)
      if (erased !== payload) updateDelivery().run(erased, delivery)
      // An answer may echo a part of what it got.
      const named = erased === payload ? addresses : undefined
      for (const { id: attempt, attempt: text } of selectAttempts().all(delivery)) {
        updateAttempt().run(JSON.stringify(erasedAttempt(JSON.parse(text), named)), attempt)
        rows += 1
      }
    }
    return [found.length, rows]
  }

  function eraseOne(row: FoundRow, publisher: Publisher) {
    const { seq, job } = row
    const erased = erasedColumns(row)
    remove.identity([seq])
    addresses.change(seq, ERASED_ADDRESS)
    setContent(seq, erasedContent(contentOf(seq), publisher.now))
    updateLabels().run(seq)
    const events = eraseEvents(row, erased)
    const [deliveries, rows] = eraseDeliveries(row.id)
    const published = job === null ? [] : cancelWaiting(erased, publisher)
    return { deliveries, rows: events + rows, published }
  }

  /** Goes through the rows until the step is long enough. */
  function step(rows: readonly FoundRow[], erase: (row: FoundRow) => number): ErasedStep {
    const tally = createTally()
    const [erased, busy, left]: [string[], string[], string[]] = [[], [], []]
    for (const row of rows) {
      const list = row.busy === 1 ? busy : tally.isFull() ? left : erased
      list.push(row.id)
      if (list === erased) tally.add(row.bytes + erase(row) * ROW_COST)
    }
    return { erased, busy, left }
  }

  function eraseCopies({ organizationId, ids, addresses, without }: EraseCopiesRequest): ErasedStep {
    const list = JSON.stringify(addresses)
    return step(
      selectCopied().all(JSON.stringify([...new Set(ids)]), organizationId, list),
      ({ seq, id, channel }) => {
        const events = selectEvents().all(seq)
        for (const { sequence, fact, error } of events)
          updateTexts().run(erasedFactText(fact, addresses), erasedErrorText(error, addresses), seq, sequence)
        // The list of attachments is empty: they are in a column of their own.
        setText().run(JSON.stringify(without(channel, contentOf(seq))), seq)
        deleteCopies().run(seq, list)
        return events.length + eraseDeliveries(id, addresses)[1]
      },
    )
  }

  function messages({ organizationId, most, after }: ReportsRequest): ReportsPage {
    const [, at = -1, id = -1] = after === undefined ? [] : decodeCursor(after, 3)
    const rows = selectMessages().all(organizationId, at, id, most)
    const last = rows.length === most ? rows.at(-1) : undefined
    return {
      items: rows.flatMap(({ event_id, payload, created_at, shown }) =>
        shown === 1 ? [{ id: event_id, kind: 'message', json: payload, at: created_at }] : [],
      ),
      next: encodeCursor(last === undefined ? [1, 0, 0] : [0, last.created_at, last.id]),
    }
  }

  function receipts({ organizationId, most }: ReportsRequest, after: number): ReportsPage {
    const rows = selectUnmatched().all(organizationId, after, most)
    const last = rows.length === most ? rows.at(-1) : undefined
    return {
      items: rows.flatMap(({ id, fact, received_at, shown }) =>
        shown === 1 ? [{ id: String(id), kind: 'receipt', json: fact, at: received_at }] : [],
      ),
      next: last === undefined ? null : encodeCursor([1, 0, last.id]),
    }
  }

  return {
    async erase({ organizationId, ids }) {
      return connection.durably(() => {
        const publisher = parts.deliveries.publisher(connection.now())
        const events: NotificationEvent[] = []
        let [cancelled, deliveries] = [0, 0]
        const answer = step(select().all(JSON.stringify([...new Set(ids)]), organizationId), (row) => {
          const { published, rows, deliveries: own } = eraseOne(row, publisher)
          events.push(...published)
          cancelled += row.job === null ? 0 : 1
          deliveries += own
          return rows
        })
        return { ...answer, cancelled, deliveries, events }
      })
    },
    async eraseCopies(request) {
      return connection.durably(() => eraseCopies(request))
    },
    async reports(request) {
      const [part, , after = 0] = request.after === undefined ? [0] : decodeCursor(request.after, 3)
      return connection.read(() => (part === 0 ? messages(request) : receipts(request, after)))
    },
    async removeReports(organizationId, ids) {
      return connection.durably(() => {
        const found = selectReceived().all(JSON.stringify(ids), organizationId)
        remove.deliveries(found.map(({ id }) => id))
        const messages = new Set(found.map(({ event_id }) => event_id))
        return messages.size + deleteUnmatched().changes(JSON.stringify(ids), organizationId)
      })
    },
    async mark() {
      // Takes the lock that every other writer has until its transaction ends.
      await connection.write(() => {})
      return ''
    },
    async passed() {
      return true
    },
  }
}
