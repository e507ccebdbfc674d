import { createHash } from 'node:crypto'
import type { FeatureCore } from '../../core/feature.ts'
import { underMaintenance } from '../../core/lifecycle/calls.ts'
import type { LinkSigner } from '../../core/links/link-signer.ts'
import { isMachineVisit, type Visit } from './machine-visit.ts'

/** The targets of the links and pictures that count. Tokens prove their origin. They work under maintenance, without counting. */
export interface Visits {
  /** Counts an opened mail in the background. False: invalid token. */
  opened(token: string, visit: Visit): Promise<boolean>
  /** Returns the target of a link and counts the click in the background. Null: invalid token. */
  clicked(token: string, visit: Visit): Promise<string | null>
}

export interface VisitServices extends Pick<FeatureCore, 'storage' | 'clock' | 'recordFact'> {
  readonly secrets: { signer(): LinkSigner }
  /** True: links still work, but are not counted. */
  maintained(): boolean
  onError(error: unknown): void
}

/** Maximum number of visits being recorded; visits beyond are not counted. */
const MOST_UNDER_WAY = 1_000
/** Maximum number of remembered visits, which need no second record. */
const MOST_KNOWN = 10_000

/** Counts opened mails and clicked links. */
export function createVisits({
  storage,
  clock,
  secrets: { signer },
  maintained,
  recordFact,
  onError,
}: VisitServices): Visits {
  const known = new Set<string>()
  let underWay = 0

  /** The visitor does not wait for the record and sees no error of it. */
  function count(type: 'opened' | 'clicked', id: string, key: string, visit: Visit): void {
    if (!visit.counts || maintained()) return
    if (underWay >= MOST_UNDER_WAY) {
      onError(new Error('A visit was not counted: too many are being recorded.'))
      return
    }
    underWay += 1
    countVisit(type, id, key, visit)
      .catch(onError)
      .finally(() => {
        underWay -= 1
      })
  }

  async function countVisit(
    type: 'opened' | 'clicked',
    id: string,
    key: string,
    visit: Visit,
  ): Promise<void> {
    const byName = isMachineVisit(visit, null)
    const visited = `${id} ${key} ${byName}`
    if (known.has(visited)) return
    const now = clock.now()
    const timeline = await storage.notifications.timeline(id)
    // Retention has removed the notification.
    if (timeline.length === 0) return
    const arrived = timeline.findLast(({ type: event }) => event === 'sent' || event === 'delivered')
    const machine = isMachineVisit(visit, arrived === undefined ? null : now - arrived.at)
    await recordFact(id, machine ? `${key}:machine` : key, { type, ...(machine ? { machine } : {}) })
    if (known.size >= MOST_KNOWN) known.clear()
    if (machine === byName) known.add(visited)
  }

  return underMaintenance<Visits>({
    async opened(token, visit) {
      const id = signer().verify('open', token)
      if (id !== null) count('opened', id, 'open', visit)
      return id !== null
    },
    async clicked(token, visit) {
      const [id, target] = signer().verify('click', token)?.split('\n') ?? []
      if (id === undefined || target === undefined || !/^https?:/.test(target)) return null
      const place = createHash('sha256').update(target).digest('base64url').slice(0, 22)
      count('clicked', id, `click:${place}`, visit)
      return target
    },
  })
}
