import { expect, it } from 'vitest'
import { NotifierError } from '../../../src/domain/errors/notifier-error.ts'
import { memoryStorage } from '../../../src/memory/memory-storage.ts'
import { systemClock } from '../../../src/memory/system-clock.ts'
import type { SettleAnswer } from '../../../src/ports/storage/settle.ts'
import { createAttempts } from '../../../src/services/delivery/attempts.ts'
import { createLeases } from '../../../src/services/delivery/leases.ts'
import { observation } from '../../support/observation.ts'

function attemptsThatAnswer(answer: SettleAnswer) {
  const storage = { ...memoryStorage(), settle: async () => [answer] }
  const clock = systemClock()
  const failures: unknown[] = []
  const announced: unknown[] = []
  const attempts = createAttempts({
    storage,
    clock,
    leases: createLeases(storage, clock, 60_000, () => {}),
    ...observation(),
    announce: (event) => announced.push(event),
    failed: (error) => failures.push(error),
  })
  return { attempts, failures, announced }
}

const settlement = { jobId: '1', token: 1, kind: 'notification', facts: [], next: { kind: 'end' } } as const

it('reports an outcome that the storage could not record', async () => {
  const error = new NotifierError('internal_server_error')
  const { attempts, failures, announced } = attemptsThatAnswer({ kind: 'failed', error })
  await attempts.settle(settlement)
  expect(failures).toEqual([error])
  expect(announced).toEqual([])
})

it('says nothing of a job that is another’s now', async () => {
  const { attempts, failures, announced } = attemptsThatAnswer({ kind: 'stale' })
  await attempts.settle(settlement)
  expect([failures, announced]).toEqual([[], []])
})
