import type { NotificationEvent } from '../../domain/event-payload.ts'
import type { ClaimedJob, LeaseRef, StartRef } from '../../ports/storage/claim.ts'
import type { SettleAnswer, Settlement } from '../../ports/storage/settle.ts'
import type { Storage } from '../../ports/storage/storage.ts'
import { createGroup } from '../group.ts'
import type { Leases } from './leases.ts'

/** How both kinds of job begin and end an attempt, in commits that concurrent attempts share. */
export interface Attempts {
  /** Records that an attempt begins. False: the job is another's now. */
  begin(ref: StartRef): Promise<boolean>
  /** Ends an attempt, or the job without one. */
  settle(settlement: Settlement): Promise<void>
  /** Returns a claim whose attempt has not begun. */
  release(ref: LeaseRef): Promise<void>
  /**
   * Runs one job under its lease. What `work` throws is reported, and the job is left to its lease's expiry.
   *
   * @param work its signal aborts when the lease is lost or the notifier stops in haste
   */
  run(job: ClaimedJob, work: (signal: AbortSignal) => Promise<void>): Promise<void>
  /** Aborts every attempt that runs. */
  abort(): void
  /** How many jobs run. */
  running(): number
}

export interface AttemptsOptions {
  readonly storage: Storage
  readonly leases: Leases
  announce(event: NotificationEvent): void
  failed(error: unknown): void
}

export function createAttempts({ storage, leases, announce, failed }: AttemptsOptions): Attempts {
  const begin = createGroup((refs: readonly StartRef[]) => storage.startAttempts(refs))
  const settle = createGroup<Settlement, SettleAnswer>((settlements) => storage.settle(settlements))
  const release = createGroup(async (refs: readonly LeaseRef[]) => {
    await storage.release(refs)
    return refs.map(() => undefined)
  })
  const controllers = new Set<AbortController>()

  return {
    begin,
    release,
    async settle(settlement) {
      const answer = await settle(settlement)
      if (answer.kind === 'settled') for (const event of answer.events) announce(event)
    },
    async run(job, work) {
      const controller = new AbortController()
      controllers.add(controller)
      const letGo = leases.hold(job, () => controller.abort(new Error('The lease of this job was lost.')))
      try {
        await work(controller.signal)
      } catch (error) {
        failed(error)
      } finally {
        letGo()
        controllers.delete(controller)
      }
    },
    abort() {
      for (const controller of controllers) controller.abort(new Error('The notifier is stopping.'))
    },
    running: () => controllers.size,
  }
}
