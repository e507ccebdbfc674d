import type { Gate } from '../gate/gate.ts'
import { coalesce } from '../loop/coalesce.ts'
import type { NotificationContent } from '../notification/notification.ts'
import type { AcceptAnswer, AcceptReads, AcceptRequest, JoinedWrite } from '../ports/storage/accept.ts'
import type { RecordWrite, RefusedWrite } from '../ports/storage/records.ts'
import type { Storage } from '../ports/storage/storage.ts'
import type { TextReader } from '../text/text-store.ts'
import { joinTransaction } from './join.ts'
import { createLookups, type Lookups } from './lookups.ts'

/** Maximum weight of a commit: 2,000 notifications, or 8 MiB of text and files. A heavier batch gets its own commit. */
const COMMIT_WEIGHT = 2_000
/** So many characters weigh as much as a notification. */
const CHARACTERS_PER_WEIGHT = 4_096

/** Nothing of a request was stored, because of one of its records. */
export class RefusedRecord extends Error {
  readonly write: RefusedWrite

  constructor(write: RefusedWrite) {
    super(`The storage refuses a record as "${write.kind}".`)
    this.write = write
  }
}

/** The transaction in which an accept reads and stores. */
export interface UnitOfWork<Write extends RecordWrite = JoinedWrite> {
  readonly lookups: Lookups
  /** Reads inside the transaction, also for data that is otherwise cached. Undefined: ordinary reads. */
  readonly inside: AcceptReads | undefined
  /** Wakes the lanes after the commit. @throws NotifierError of a failed request; RefusedRecord */
  store(request: AcceptRequest<Write>): Promise<Stored>
}

export type Stored = Exclude<AcceptAnswer, { kind: 'failed' | 'refused' }>

export interface UnitsOfWork {
  /** The commits that concurrent callers share. */
  readonly shared: UnitOfWork<RecordWrite>
  /**
   * The shared unit, or one for a transaction of the caller.
   *
   * @throws NotifierError `invalid_transaction` if the storage joins no transactions
   */
  of(tx: unknown): UnitOfWork | Promise<UnitOfWork>
}

/** @param accepted called after a commit with each lane that has new work */
export function createUnitsOfWork(
  storage: Storage<unknown>,
  texts: TextReader,
  gate: Gate,
  accepted: (lane: string) => void,
): UnitsOfWork {
  const commit = coalesce((requests: readonly AcceptRequest<RecordWrite>[]) => storage.accept(requests), {
    maxWeight: COMMIT_WEIGHT,
    weigh: ({ notifications }) => notifications.reduce((sum, { content }) => sum + weightOf(content), 0),
  })
  const shared: UnitOfWork<RecordWrite> = {
    lookups: createLookups(storage, texts, gate),
    inside: undefined,
    async store(request) {
      const answer = storedOf(await commit(request))
      if (answer.kind === 'accepted') tell(request)
      return answer
    },
  }

  function tell({ notifications }: Pick<AcceptRequest, 'notifications'>): void {
    for (const lane of new Set(notifications.map((notification) => notification.lane))) accepted(lane)
  }

  async function joining(tx: unknown): Promise<UnitOfWork> {
    const transaction = await joinTransaction(storage, tx)
    const { reads } = transaction
    return {
      lookups: reads === undefined ? shared.lookups : createLookups(reads, texts, gate, true),
      inside: reads,
      async store(request) {
        const { answer, committed } = await transaction.accept(request)
        const stored = storedOf(answer)
        void committed.then((yes) => {
          if (yes) tell(request)
        })
        return stored
      },
    }
  }

  return { shared, of: (tx) => (tx === undefined ? shared : joining(tx)) }
}

function weightOf(content: NotificationContent): number {
  const text = 'body' in content ? content.body.length + (content.text?.length ?? 0) : 0
  return 1 + Math.floor((text + sizeOfFiles(content.parts)) / CHARACTERS_PER_WEIGHT)
}

/** Characters of the files that the parts of a message carry. */
function sizeOfFiles(parts: unknown): number {
  const { attachments } = (parts ?? {}) as { readonly attachments?: unknown }
  if (!Array.isArray(attachments)) return 0
  return attachments.reduce(
    (sum, file) => sum + (typeof file?.content === 'string' ? file.content.length : 0),
    0,
  )
}

function storedOf(answer: AcceptAnswer): Stored {
  if (answer.kind === 'failed') throw answer.error
  if (answer.kind === 'refused') throw new RefusedRecord(answer.write)
  return answer
}
