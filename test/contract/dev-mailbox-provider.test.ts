import { describe, test } from 'vitest'
import { devMailbox } from '../../adapters/dev-mailbox/index.ts'
import { providerContract } from '../../src/testing/index.ts'
import { Absent } from '../../src/testing/test-api.ts'
import { takenMail } from '../support/api-mail.ts'

const RECIPIENTS = {
  email: 'ada@example.com',
  sms: '+436601234567',
  push: 'a'.repeat(64),
  slack: 'C0123456789',
  webhook: 'https://example.com/hook',
} as const

describe.each(Object.keys(RECIPIENTS) as (keyof typeof RECIPIENTS)[])('devMailbox on %s', (channel) => {
  providerContract(test, async () => {
    const mailbox = devMailbox()
    const ids = new Map<string, string>()
    const provider = mailbox.channels[channel]
    const send = provider.send.bind(provider)
    return {
      provider: {
        ...provider,
        async send(message, context) {
          const outcome = await send(message, context)
          const [caught] = mailbox.messages()
          if (caught !== undefined) ids.set(caught.id, context.idempotencyKey)
          return outcome
        },
      },
      message: { to: RECIPIENTS[channel], subject: null, body: '', format: 'text' },
      secrets: [],
      act({ kind }) {
        if (kind !== 'accept') throw new Absent('A mailbox always answers, at once.')
      },
      taken: async () =>
        mailbox
          .messages()
          .map(({ id, message }) => ({ ...message, id: ids.get(id) ?? null, mail: takenMail(message) }))
          .reverse(),
      hanging: async () => {},
      mostConnections: () => 0,
      drained: async () => {},
      elsewhere: () => null,
      close: async () => {},
    }
  }, [])
})
