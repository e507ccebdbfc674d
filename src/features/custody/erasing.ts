import { isDeepStrictEqual } from 'node:util'
import type { SecretBox } from '../../core/access/secrets.ts'
import type { DueHandler } from '../../core/due/due-records.ts'
import type { FeatureCore } from '../../core/feature.ts'
import type { NotificationEvent } from '../../core/notification/event-payload.ts'
import type { PersonalRecords } from '../../core/people/personal-records.ts'
import { OPEN, organizationKind } from '../../core/tenancy/organization.ts'
import { NO_COUNTS, sum } from './counts.ts'
import { countOf, type EraseServices, erase, removeUploads } from './erase.ts'
import { find, personOf } from './find.ts'
import type { ErasureCounts, PersonInput } from './model.ts'
import type { Pace, Signal, Step } from './pace.ts'
import { type ErasurePass, type ErasureValue, erasureKind } from './records.ts'
import { type Erasure, Overtaken, type Task, taskOf } from './task.ts'

/** A send that was under way when the erasure began has ended by then: an accept times out after a minute. */
const LAST_MS = 60_000
/** Until what was busy, or under way, is looked at again. */
const AGAIN_MS = 10_000
/** Until it is asked again whether open transactions have ended. */
const SETTLING_MS = 1_000
/** Organizations per page. */
const ORGANIZATIONS = 20

export const FIRST_PASS: ErasurePass = Object.freeze({ isLast: false, found: false, after: null })

export interface ErasureServices extends FeatureCore {
  personal(): readonly PersonalRecords[]
  box(): SecretBox
  emit(event: NotificationEvent): void
}

/** What calls about people need. */
export interface CustodyServices extends ErasureServices {
  readonly pace: Pace
}

export interface Erasing {
  /**
   * Goes on with an erasure until it must wait, or may not go on.
   *
   * @param token of the claim under which it fell due
   */
  goOn(erasure: Erasure, mayGoOn: () => boolean, token?: number): Promise<void>
  /** What an erasure would erase now. */
  count(organizationId: string | null, person: PersonInput, signal?: Signal): Promise<ErasureCounts>
  /** The organizations that an erasure or export goes through, by pages, each with the cursor of the next. */
  organizations(
    step: Step,
    organizationId: string | null,
    after?: string | null,
  ): AsyncIterable<{ readonly ids: readonly string[]; readonly next: string | null }>
}

export function createErasing(core: CustodyServices): Erasing {
  const { storage, kinds, box, wake, pace } = core
  const servicesOf = (step: Step): EraseServices => ({ ...core, step, wake: () => wake() })

  async function* organizations(step: Step, organizationId: string | null, after: string | null = null) {
    if (organizationId !== null) {
      yield { ids: [organizationId], next: null }
      return
    }
    const of = { organizationId: null, list: OPEN }
    let cursor = after ?? undefined
    do {
      const request = { limit: ORGANIZATIONS, offset: 0, cursor }
      const page = await step(() => storage.records.list(organizationKind, of, request))
      yield { ids: page.items.map(({ id }) => id), next: page.nextCursor }
      cursor = page.nextCursor ?? undefined
    } while (cursor !== undefined)
  }

  /** Returns whether it has come to the end. */
  async function eraseIn(
    services: EraseServices,
    task: Task,
    organizationId: string,
    person: PersonInput,
    mayGoOn: () => boolean,
  ): Promise<boolean> {
    const whom = personOf(person, kinds)
    for await (const found of find(services, organizationId, whom)) {
      if (!mayGoOn()) return false
      const counted = await erase(services, task, organizationId, whom, found)
      if (counted === null) continue
      task.count(counted)
      await task.save({ pass: { ...task.record.value.pass, found: true } })
    }
    return true
  }

  /** Returns whether the pass has ended. */
  async function pass(
    services: EraseServices,
    task: Task,
    person: PersonInput,
    mayGoOn: () => boolean,
  ): Promise<boolean> {
    const { organizationId, value } = task.record
    for await (const { ids, next } of organizations(services.step, organizationId, value.pass.after)) {
      for (const id of ids) if (!(await eraseIn(services, task, id, person, mayGoOn))) return false
      if (next !== null) await task.save({ pass: { ...task.record.value.pass, after: next } })
    }
    return true
  }

  /** Whether all that was under way when the erasure began has ended. */
  async function isSettled({ record }: Task): Promise<boolean> {
    return record.readAt >= record.createdAt + LAST_MS && (await storage.custody.passed(record.value.mark))
  }

  /** Stores what becomes of the erasure after a pass. Returns whether another one follows at once. */
  async function end(task: Task, before: ErasureCounts): Promise<boolean> {
    const { createdAt, readAt, value } = task.record
    const { isLast, found } = value.pass
    if (isLast && !found) {
      await task.save({ about: null, dueAt: null, completedAt: readAt, pass: FIRST_PASS })
      return false
    }
    // What was found and not counted is busy.
    const mustWait = !found || isDeepStrictEqual(before, value.counts)
    const again = isLast || found ? readAt + AGAIN_MS : Math.max(createdAt + LAST_MS, readAt + SETTLING_MS)
    await task.save({ pass: FIRST_PASS, dueAt: mustWait ? again : readAt })
    return !mustWait
  }

  async function passes(services: EraseServices, task: Task, mayGoOn: () => boolean): Promise<void> {
    const person: PersonInput = JSON.parse(box().open(task.record.value.about ?? ''))
    for (let more = true; more; ) {
      const { pass: now, counts } = task.record.value
      if (now.after === null && (await isSettled(task))) await task.save({ pass: { ...now, isLast: true } })
      if (await pass(services, task, person, mayGoOn)) more = await end(task, counts)
      else {
        await task.save({ dueAt: task.record.readAt })
        more = false
      }
    }
  }

  return {
    organizations,
    async goOn(erasure, mayGoOn, token) {
      const services = servicesOf(pace(erasure.organizationId))
      const { records } = storage
      const task = taskOf({ write: (sets) => services.step(() => records.write(sets)) }, erasure, token)
      try {
        await task.save()
        task.count({ uploads: await removeUploads(services, task) })
        await passes(services, task, mayGoOn)
      } catch (error) {
        if (!(error instanceof Overtaken)) throw error
      }
    },
    async count(organizationId, person, signal) {
      const services = servicesOf(pace(organizationId, signal))
      let counts = NO_COUNTS
      for await (const { ids } of organizations(services.step, organizationId)) {
        for (const id of ids) {
          for await (const found of find(services, id, personOf(person, kinds)))
            counts = sum(counts, await countOf(services, found))
        }
      }
      return counts
    },
  }
}

/** Goes on with erasures that have fallen due. */
export function erasuresDue({ goOn }: Erasing, clock: ErasureServices['clock']): DueHandler<ErasureValue> {
  return {
    kind: erasureKind,
    async handle({ record, token, leaseMs }, signal) {
      const end = clock.monotonic() + leaseMs / 2
      await goOn(record, () => !signal.aborted && clock.monotonic() < end, token)
      // It has been written meanwhile.
      return { writes: [] }
    },
  }
}
