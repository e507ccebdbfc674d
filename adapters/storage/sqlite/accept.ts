import { admittedOf, countedOf } from '../../../src/core/accept/admit.ts'
import { uploadGone, uploadKind } from '../../../src/core/accept/upload.ts'
import { NotifierError } from '../../../src/core/errors/notifier-error.ts'
import { hasLabels } from '../../../src/core/notification/labels.ts'
import type { NewNotification } from '../../../src/core/notification/notification.ts'
import { storedContent } from '../../../src/core/notification/stored-content.ts'
import type { AcceptAnswer, AcceptRequest } from '../../../src/core/ports/storage/accept.ts'
import type { RecordWrite } from '../../../src/core/ports/storage/records.ts'
import { labelColumns } from '../rows/labels.ts'
import type { Connection } from './connection.ts'
import { dataError } from './errors.ts'
import type { IdempotencyRecords } from './idempotency.ts'
import { notificationJob, READY, SET_DELAYED, WAITING } from './jobs.ts'
import { createNewRows, type NotificationColumns } from './new-rows.ts'
import { tableOf } from './record-tables.ts'
import type { SqliteRecords } from './records.ts'

/** May also write records. */
type Requested = AcceptRequest<RecordWrite>

/** Separate from the insert, so that ordinary accepts bind nothing for it. */
const SET_RESEND_OF = 'UPDATE carillon_notifications SET resend_of = ? WHERE seq = ?'

const SET_ATTACHMENTS = 'UPDATE carillon_notifications SET attachments = ? WHERE seq = ?'

const SET_TRACE = 'UPDATE carillon_notifications SET trace = ? WHERE seq = ?'

const INSERT_LABELLED = `
  INSERT INTO carillon_notifications
    (id, organization, channel, recipient, created_at, high, send_at, expires_at, content,
      metadata, person, category, group_id)
  VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`

const INSERT_METADATA = `
  INSERT INTO carillon_metadata (organization, name, value, created_at, notification) VALUES (?, ?, ?, ?, ?)`

const INSERT_NAMED_UPLOAD = 'INSERT INTO carillon_named_uploads (notification, upload) VALUES (?, ?)'

const INSERT_COPY = `
  INSERT INTO carillon_copies (notification, address, organization, created_at) VALUES (?, ?, ?, ?)`

const SELECT_UPLOAD = `
  SELECT 1 AS found FROM ${tableOf(uploadKind)} WHERE id = ? AND organization = ?`

const SELECT_ORGANIZATION = `
  SELECT 1 AS found FROM carillon_r_organizations WHERE id = ? AND list = 'open'`

const SELECT_USED = 'SELECT used FROM carillon_usage WHERE organization = ? AND period = ?'

const ADD_USED = `
  INSERT INTO carillon_usage (organization, period, used) VALUES (?, ?, ?)
  ON CONFLICT DO UPDATE SET used = used + excluded.used`

type Accepted = Extract<AcceptAnswer, { kind: 'accepted' }>

export interface Accept {
  set(requests: readonly Requested[]): Promise<AcceptAnswer[]>
  /**
   * Accepts one request inside an open transaction. Data errors pass unchanged.
   *
   * @param admits called with the number of admitted notifications before they are stored
   */
  one(request: Requested, now: number, admits: (admitted: number) => void): AcceptAnswer
}

/** Stores requests: a set in one commit, or one request inside a larger commit. */
export function createAccept(
  connection: Connection,
  idempotency: IdempotencyRecords,
  records: Pick<SqliteRecords, 'applySet'>,
): Accept {
  const newRows = createNewRows(connection)
  const setResendOf = connection.statement(SET_RESEND_OF)
  const setAttachments = connection.statement(SET_ATTACHMENTS)
  const setTrace = connection.statement(SET_TRACE)
  const insertLabelled = connection.statement(INSERT_LABELLED)
  const insertMetadata = connection.statement(INSERT_METADATA)
  const insertNamedUpload = connection.statement(INSERT_NAMED_UPLOAD)
  const insertCopy = connection.statement(INSERT_COPY)
  const selectUpload = connection.statement<{ found: 1 }>(SELECT_UPLOAD)
  const setDelayed = connection.statement(SET_DELAYED)
  const selectOrganization = connection.statement<{ found: 1 }>(SELECT_ORGANIZATION)
  const selectUsed = connection.statement<{ used: number }>(SELECT_USED)
  const addUsed = connection.statement(ADD_USED)

  /** In one insert: a second write of the row would cost half as much again. */
  function insertLabelledRow(row: NotificationColumns, notification: NewNotification): number {
    const { metadata, person, category, group_id } = labelColumns(notification)
    newRows.flush()
    const seq = insertLabelled().insert(...row, metadata, person, category, group_id)
    const [, organizationId, , , now] = row
    for (const [name, value] of Object.entries(notification.metadata ?? {}))
      insertMetadata().run(organizationId, name, value, now, seq)
    return seq
  }

  function name(seq: number, uploads: readonly string[]): void {
    for (const upload of uploads) insertNamedUpload().run(seq, upload)
  }

  function storeOne(organizationId: string, notification: NewNotification, now: number): void {
    const { id, channel, to, lane, sendAt, expiresAt } = notification
    const { content, attachments } = storedContent(notification.content)
    const high = notification.priority === 'high' ? 1 : 0
    const planned = Math.max(now, sendAt ?? 0)
    const dueAt = Math.max(planned, notification.dueAt ?? 0)
    const row = [id, organizationId, channel, to, now, high, sendAt, expiresAt, content] as const
    const job = [organizationId, lane, high, dueAt > now ? WAITING : READY, dueAt] as const
    if (isPlain(notification, attachments)) {
      newRows.add(row, job)
      return
    }
    const seq = hasLabels(notification) ? insertLabelledRow(row, notification) : newRows.insert(row)
    newRows.insertJob(notificationJob(seq), job)
    storeRest(seq, notification, attachments, row)
    const { delayedFor } = notification
    if (delayedFor !== undefined && dueAt > planned)
      setDelayed().run(delayedFor.address, delayedFor.recipient, notificationJob(seq))
  }

  function storeRest(
    seq: number,
    { resendOf, trace, uploads, copies = [] }: NewNotification,
    attachments: string | null,
    [, organizationId, , , now]: NotificationColumns,
  ): void {
    if (attachments !== null) setAttachments().run(attachments, seq)
    if (resendOf !== undefined) setResendOf().run(resendOf, seq)
    if (trace !== undefined) setTrace().run(trace, seq)
    if (uploads !== undefined) name(seq, uploads)
    for (const address of copies) insertCopy().run(seq, address, organizationId, now)
  }

  function namesUnknown({ organizationId, notifications }: Requested): boolean {
    return notifications.some(
      ({ uploads }) => uploads?.some((id) => selectUpload().get(id, organizationId) === undefined) === true,
    )
  }

  /** @param known organizations found in this transaction; the write lock keeps other processes from deleting them */
  function decide(request: Requested, now: number, known?: Set<string>): AcceptAnswer {
    const { organizationId, notifications, quota } = request
    if (known?.has(organizationId) !== true && selectOrganization().get(organizationId) === undefined) {
      const message = `No organization has the id "${organizationId}".`
      return { kind: 'failed', error: new NotifierError('not_found', { message }) }
    }
    known?.add(organizationId)
    if (request.idempotency !== undefined) {
      const record = idempotency.find({ ...request.idempotency, organizationId }, now)
      if (record !== null) return { kind: 'replayed', record }
    }
    if (namesUnknown(request)) return { kind: 'failed', error: uploadGone() }
    let admitted = notifications.length
    if (quota !== undefined) {
      const used = selectUsed().get(organizationId, quota.period)?.used ?? 0
      admitted = admittedOf(request, Math.max(0, quota.limit - used))
    }
    return { kind: 'accepted', admitted, createdAt: now }
  }

  /** Stores records, then what `admits` writes, then the notifications. A refused record undoes nothing but itself. */
  function store(
    request: Requested,
    answer: Accepted,
    now: number,
    admits: (admitted: number) => void = () => {},
  ): AcceptAnswer {
    const { records: writes = [], notifications } = request
    if (writes.length > 0 && answer.admitted === notifications.length) {
      const written = connection.unless(
        ({ kind }) => kind !== 'written',
        () => records.applySet(writes),
      )
      if ('at' in written) return { kind: 'refused', write: written }
    }
    admits(answer.admitted)
    try {
      storeAdmitted(request, answer.admitted, now)
    } catch (error) {
      newRows.forget()
      throw error
    }
    return answer
  }

  function storeAdmitted(request: Requested, admitted: number, now: number): void {
    const { organizationId, notifications, quota } = request
    let left = admitted
    for (const notification of notifications) {
      if (left === 0) break
      left -= 1
      storeOne(organizationId, notification, now)
    }
    const counted = quota === undefined ? 0 : countedOf(notifications, admitted)
    if (quota !== undefined && counted > 0) addUsed().run(organizationId, quota.period, counted)
    const refused = admitted === 0 && notifications.length > 0
    if (request.idempotency !== undefined && !refused) {
      idempotency.insert(organizationId, request.idempotency, admitted, now)
    }
  }

  return {
    async set(requests) {
      // Callers repeat a refused request. If it were stored, it would be delivered once per try.
      connection.check()
      return connection.writeSet(
        requests,
        failed,
        () => {
          newRows.forget()
          const now = connection.now()
          const known = new Set<string>()
          return (request) => {
            const answer = decide(request, now, known)
            return answer.kind === 'accepted' ? store(request, answer, now) : answer
          }
        },
        newRows.flush,
      )
    },
    one(request, now, admits) {
      newRows.forget()
      const answer = decide(request, now)
      if (answer.kind !== 'accepted') return answer
      const stored = store(request, answer, now, admits)
      newRows.flush()
      return stored
    },
  }
}

/** Has nothing but the columns of {@link NewRows}. */
function isPlain(notification: NewNotification, attachments: string | null): boolean {
  const { resendOf, trace, uploads, copies, delayedFor } = notification
  return (
    (attachments ?? resendOf ?? trace ?? uploads ?? copies ?? delayedFor) == null && !hasLabels(notification)
  )
}

const failed = (cause: unknown): AcceptAnswer => ({ kind: 'failed', error: dataError(cause) })

/** Usage of a quota. */
export function createQuotaUsed(
  connection: Connection,
): (organizationId: string, period: string) => Promise<number> {
  const select = connection.statement<{ used: number }>(SELECT_USED)
  return (organizationId, period) => connection.read(() => select().get(organizationId, period)?.used ?? 0)
}
