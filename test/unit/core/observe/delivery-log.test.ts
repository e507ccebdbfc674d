import { expect, it } from 'vitest'
import type { Outcome } from '../../../../src/core/notification/outcome.ts'
import { recordingLogger, recordingProvider } from '../../../../src/testing/index.ts'
import { notifierWorld } from '../../../support/notifier-world.ts'

const MAIL = { channel: 'email', to: 'ada@example.com', subject: 'Hello', body: 'Hello' } as const

async function worldThat(answers: () => Outcome) {
  const world = notifierWorld()
  const { logger, lines } = recordingLogger()
  const notifier = await world.start({ channels: { email: recordingProvider({ send: answers }) }, logger })
  return {
    world,
    notifier,
    /** What the log says of deliveries: message, code and what was left out. */
    told: () =>
      lines().flatMap((line) => {
        const at = line.indexOf(' {')
        const { code, leftOut = 0 } = JSON.parse(line.slice(at))
        return code === undefined ? [] : [`${line.slice(0, at)} ${code} +${leftOut}`]
      }),
  }
}

it('a failure is logged once a minute for each provider and code, with a count of what was left out', async () => {
  let code: 'mailbox_full' | 'message_too_large' = 'mailbox_full'
  const { world, notifier, told } = await worldThat(() => ({
    kind: 'rejected',
    scope: 'message',
    code,
    message: 'No.',
  }))
  const fail = async (): Promise<void> => {
    const { id } = await notifier.send(MAIL)
    await world.ended(notifier, id)
  }
  for (let times = 0; times < 4; times += 1) await fail()
  const both = (about: string): string[] => [
    `A provider failed to deliver. ${about}`,
    `A notification failed. ${about}`,
  ]
  const full = both('mailbox_full +0')
  expect(told().sort()).toEqual(full.sort())
  code = 'message_too_large'
  await fail()
  expect(told().length).toBe(4)
  code = 'mailbox_full'
  await world.clock.advance(60_000)
  await fail()
  expect(told().slice(4).sort()).toEqual(both('mailbox_full +3').sort())
})

it('an ambiguous outcome is logged as one', async () => {
  let known = false
  const { world, notifier, told } = await worldThat(() =>
    known ? { kind: 'accepted' } : { kind: 'ambiguous', reason: 'The connection broke.' },
  )
  const { id } = await notifier.send(MAIL)
  await world.clock.until(() => told().length > 0)
  known = true
  await world.ended(notifier, id)
  expect(told()).toEqual([expect.stringMatching(/^The outcome of an attempt is unknown.* delivery_unknown/)])
})
