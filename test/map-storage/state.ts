import * as kit from 'carillon/storage-kit'

type Mutable<Row> = { -readonly [Column in keyof Row]: Row[Column] }

export type NotificationRow = Mutable<kit.NotificationRow & kit.FactColumns> &
  kit.ClaimedRow & {
    uploads: readonly string[]
    copies: readonly string[]
    template_id: string | null
    template: string | null
  }
export type EventRow = kit.EventRow & { readonly seq: number; readonly notification: NotificationRow }
export type EndpointRow = Mutable<kit.EndpointRow> & { health: kit.EndpointHealth }
export type RecordRow = kit.RecordRow &
  kit.RecordColumns & {
    readonly kind: string
    /** Of its claim. Null: none. */
    readonly token: number | null
    readonly claims: number
    /** The revision that `due`, `token` and `claims` are of. */
    readonly due_revision: number
  }

export interface DeliveryRow {
  readonly seq: number
  readonly organization: string
  readonly endpoint: string
  /** Null: the event is about an endpoint. */
  readonly notification: NotificationRow | null
  readonly shown: Mutable<Omit<kit.WebhookDelivery, 'nextAttemptAt'>>
}

type Claimed = 'jobId' | 'lane' | 'organizationId' | 'attempts' | 'outages' | 'recovered' | 'token'

export type Job = Mutable<Pick<kit.ClaimedJob, Claimed | 'earlierAttempts'>> & {
  readonly high: boolean
  readonly subject: NotificationRow | DeliveryRow
  dueAt: number
  /** Null: the gate does not delay it. */
  delayedFor: kit.DelayedFor | null
  /** Null: no lease. */
  leaseUntil: number | null
  /** Of the attempt that began under this lease; empty: its claim began it. Null: none began. */
  provider: string | null
}

export type NewJob = Pick<Job, 'jobId' | 'lane' | 'organizationId' | 'high' | 'subject' | 'dueAt'> &
  Partial<Pick<Job, 'delayedFor'>>

/** What a storage holds; the oldest first. */
export function createState(clock: { now(): number }) {
  let seq = 0
  return {
    now: () => clock.now(),
    next: () => ++seq,
    notifications: new Map<string, NotificationRow>(),
    events: [] as EventRow[],
    jobs: new Map<string, Job>(),
    deliveries: [] as DeliveryRow[],
    endpoints: new Map<string, EndpointRow>(),
    records: [] as RecordRow[],
    /** Number of accepted notifications, by organization and period. */
    usage: new Map<string, number>(),
    idempotency: new Map<string, { readonly record: kit.IdempotencyRecord; readonly expiresAt: number }>(),
    /** By the key that deduplicates. `unmatched`: the report about a message that is not known yet. */
    receipts: new Map<string, { readonly at: number; readonly unmatched: kit.MessageReport | null }>(),
    /** Of the newest claim. */
    token: 0,
    turns: new Map<string, kit.LaneTurns>(),
    follow: (() => []) as kit.Follow,
    enqueue: (() => {}) as Extract<kit.JobSink, { enqueue: unknown }>['enqueue'],
  }
}

export type State = ReturnType<typeof createState>

/** The rows with these values. Undefined: any value. */
export function where<Row extends object>(
  rows: Iterable<Row>,
  wanted: { readonly [Column in keyof Row]?: Row[Column] | undefined },
): Row[] {
  const columns = Object.entries(wanted).filter(([, value]) => value !== undefined)
  const found: Row[] = []
  for (const row of rows)
    if (columns.every(([name, value]) => row[name as keyof Row] === value)) found.push(row)
  return found
}

export function groupBy<Row>(rows: readonly Row[], groupOf: (row: Row) => string): Map<string, Row[]> {
  const groups = new Map<string, Row[]>()
  for (const row of rows) {
    const group = groups.get(groupOf(row))
    if (group === undefined) groups.set(groupOf(row), [row])
    else group.push(row)
  }
  return groups
}

/** Joins the parts of a key; no part has a line break. */
export function keyOf(...parts: readonly (string | boolean | null | undefined)[]): string {
  return parts.map((part) => part ?? '').join('\n')
}

/** A page of rows, newest first. */
export function pageOf<Row extends { readonly seq: number }, Item>(
  rows: readonly Row[],
  page: kit.PageRequest,
  toItem: (row: Row) => Item,
  matches: (row: Row) => boolean = () => true,
): Promise<kit.Page<Item>> {
  return kit.scanPage(page, {
    sortedBy: ['seq'],
    read: ([before = Infinity] = [], most) =>
      rows
        .filter(({ seq }) => seq < before)
        .slice(-most)
        .reverse(),
    matches,
    toItem,
  })
}

/** At most `most` rows behind those of the step before. `next` continues. */
export function stepOf<Row extends { readonly seq: number }>(
  rows: readonly Row[],
  { most, after }: { readonly most: number; readonly after?: string | undefined },
) {
  const [from = -1] = after === undefined ? [] : kit.decodeCursor(after, 1)
  const left = rows.filter(({ seq }) => seq > from)
  const step = left.slice(0, most)
  return { step, next: left.length > most ? kit.encodeCursor([step.at(-1)?.seq ?? 0]) : null }
}

/** A page of lists over all organizations: the highest id first. */
export function pageById<Row, Item>(
  rows: readonly Row[],
  page: kit.PageRequest,
  keyOf: (row: Row) => readonly number[],
  toItem: (row: Row) => Item,
  matches: (row: Row) => boolean,
): Promise<kit.Page<Item>> {
  const keyed = rows
    .map((row) => {
      const [a = 0, b = 0, c = 0, sequence = 0] = keyOf(row)
      return { row, a, b, c, sequence, key: [a, b, c, sequence] }
    })
    .sort((one, other) => compare(other.key, one.key))
  return kit.scanPage(page, {
    sortedBy: ['a', 'b', 'c', 'sequence'],
    read: (below, most) =>
      keyed.filter(({ key }) => below === undefined || compare(key, below) < 0).slice(0, most),
    matches: ({ row }) => matches(row),
    toItem: ({ row }) => toItem(row),
  })
}

function compare(one: readonly number[], other: readonly number[]): number {
  const at = one.findIndex((part, index) => part !== other[index])
  return at === -1 ? 0 : (one[at] ?? 0) - (other[at] ?? 0)
}
