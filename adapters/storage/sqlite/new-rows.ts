import type { Connection } from './connection.ts'
import { notificationJob } from './jobs.ts'

/** Columns of a new notification. */
export type NotificationColumns = readonly [
  id: string,
  organization: string,
  channel: string,
  recipient: string,
  createdAt: number,
  high: 0 | 1,
  sendAt: number | null,
  expiresAt: number | null,
  content: string,
]

/** Columns of a new job, without its id. */
export type JobColumns = readonly [
  organization: string,
  lane: string,
  high: 0 | 1,
  state: number,
  dueAt: number,
]

/** Notifications with nothing but these columns, and their jobs. */
export interface NewRows {
  /** Inserts a notification and its job, many at a time. */
  add(notification: NotificationColumns, job: JobColumns): void
  /** Inserts a notification at once, after all added ones. Returns its `seq`. */
  insert(notification: NotificationColumns): number
  insertJob(id: number, job: JobColumns): void
  /** Inserts what was added. */
  flush(): void
  /** Forgets what was added and not inserted: its transaction or savepoint is rolled back. */
  forget(): void
}

const NOTIFICATIONS = `
  INSERT INTO carillon_notifications
    (id, organization, channel, recipient, created_at, high, send_at, expires_at, content) VALUES `
const NOTIFICATION = '(?, ?, ?, ?, ?, ?, ?, ?, ?)'

const JOBS = 'INSERT INTO carillon_jobs (id, organization, lane, high, state, due_at) VALUES '
const JOB = '(?, ?, ?, ?, ?, ?)'

/** Rows of one insert, which cost a quarter less than an insert of each. More rows gain little. */
const TOGETHER = 10

const rows = (row: string): string => Array.from({ length: TOGETHER }, () => row).join()

export function createNewRows(connection: Connection): NewRows {
  const insertOne = connection.statement(NOTIFICATIONS + NOTIFICATION)
  const insertMany = connection.statement(NOTIFICATIONS + rows(NOTIFICATION))
  const insertJob = connection.statement(JOBS + JOB)
  const insertJobs = connection.statement(JOBS + rows(JOB))
  let notifications: NotificationColumns[] = []
  let jobs: JobColumns[] = []

  /** Also empties the lists if an insert fails: its transaction or savepoint is rolled back. */
  function take(): readonly [readonly NotificationColumns[], readonly JobColumns[]] {
    const taken = [notifications, jobs] as const
    notifications = []
    jobs = []
    return taken
  }

  /** SQLite numbers the rows of an insert in order. */
  function insertAll(): void {
    const [notifications, jobs] = take()
    const first = insertMany().insert(...notifications.flat()) - TOGETHER + 1
    insertJobs().run(...jobs.flatMap((job, at) => [notificationJob(first + at), ...job]))
  }

  function flush(): void {
    const [notifications, jobs] = take()
    for (const [at, notification] of notifications.entries()) {
      const seq = insertOne().insert(...notification)
      const job = jobs[at]
      if (job !== undefined) insertJob().run(notificationJob(seq), ...job)
    }
  }

  return {
    add(notification, job) {
      notifications.push(notification)
      jobs.push(job)
      if (jobs.length === TOGETHER) insertAll()
    },
    insert(notification) {
      flush()
      return insertOne().insert(...notification)
    },
    insertJob: (id, job) => insertJob().run(id, ...job),
    flush,
    forget: () => void take(),
  }
}
