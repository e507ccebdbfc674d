import { describe, expect, it } from 'vitest'
import { organizationKind } from '../../../../src/core/tenancy/organization.ts'
import { createNotifier, type HealthReport, NotifierError } from '../../../../src/index.ts'
import { recordingProvider } from '../../../../src/testing/index.ts'
import { inMemory } from '../../../support/in-memory.ts'
import { watchReads } from '../../../support/record-reads.ts'

async function healthWhen(get: () => Promise<never[]>): Promise<HealthReport> {
  const storage = inMemory()
  let broken = false
  watchReads(storage, organizationKind, (inner) => (broken ? get() : inner()))
  const notifier = createNotifier({ storage, channels: { email: recordingProvider() } })
  await notifier.start()
  broken = true
  const health = await notifier.health()
  await notifier.stop()
  return health
}

describe('the health of a storage that does not answer', () => {
  it('is told in its own words, which say what to do', async () => {
    const message = '"a.db" was removed. Put that file back.'
    const { status, reason, storage } = await healthWhen(() =>
      Promise.reject(new NotifierError('service_unavailable', { message })),
    )
    expect({ status, reason, answers: storage.answers }).toEqual({
      status: 'unavailable',
      reason: message,
      answers: false,
    })
  })

  it('names the cause', async () => {
    const cause = new Error('connect ECONNREFUSED')
    const { reason } = await healthWhen(() =>
      Promise.reject(new NotifierError('service_unavailable', { message: 'No answer.', cause })),
    )
    expect(reason).toBe('No answer. (connect ECONNREFUSED)')
  })

  it.each([
    ['of each address of a host', ['connect ECONNREFUSED ::1', 'connect ECONNREFUSED 127.0.0.1']],
    ['that has no text not at all', []],
  ])('names the cause %s', async (_which, texts) => {
    const cause = new AggregateError(texts.map((text) => new Error(text)))
    const { reason } = await healthWhen(() =>
      Promise.reject(new NotifierError('service_unavailable', { message: 'No answer.', cause })),
    )
    expect(reason).toBe(['No answer.', ...(texts.length > 0 ? [`(${texts.join('; ')})`] : [])].join(' '))
  })

  it('has words of our own for anything else', async () => {
    expect((await healthWhen(async () => [])).reason).toBe('The storage does not answer.')
    expect((await healthWhen(() => Promise.reject('gone'))).reason).toBe('The storage does not answer.')
  })
})
