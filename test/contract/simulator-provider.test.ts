import { describe, test } from 'vitest'
import { providerContract, simulatorProvider } from '../../src/testing/index.ts'
import { SIMULATED_CHANNELS, SIMULATED_CODES } from '../../src/testing/simulator/recipients.ts'
import { takenMail } from '../support/api-mail.ts'
import { eventually } from '../support/eventually.ts'

describe.each(SIMULATED_CHANNELS)('simulatorProvider on %s', (kind) => {
  const rows = SIMULATED_CODES.flatMap(([code, scope]) =>
    (['rejected', 'retry'] as const).map((outcome) => ({
      row: `${outcome}-${code}`,
      outcome: { kind: outcome, code, scope },
    })),
  )
  providerContract(
    test,
    async () => {
      const channel = simulatorProvider({ channel: kind })
      let silent = 0
      const send = channel.send.bind(channel)
      const message = { to: channel.recipient('accepted'), subject: null, body: '', format: 'text' } as const
      // The recipient decides what this provider does, so that the harness writes to another one.
      let to = message.to
      const names = { accept: 'accepted', hang: 'timeout', break: 'ambiguous' }
      channel.send = (given, context) => {
        if (to === channel.recipient('timeout')) silent += 1
        return send({ ...given, to }, context)
      }
      return {
        provider: channel,
        message,
        secrets: [],
        act(how) {
          to = channel.recipient(how.kind === 'answer' ? how.row : names[how.kind])
        },
        taken: async () =>
          channel.accepted.map(({ message: taken, idempotencyKey: id }) => ({
            ...{ to: taken.to, body: taken.body, id },
            mail: takenMail(taken),
          })),
        hanging: async () => void (await eventually(() => silent > 0)),
        mostConnections: () => 0,
        drained: async () => {},
        elsewhere: () => null,
        close: async () => {},
      }
    },
    rows,
  )
})
