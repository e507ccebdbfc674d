import { attack } from './lib/attack.ts'

/** Sends mails with as many copies as are allowed: the plan limits addressees. */
await attack({
  title: 'Copies of mails',
  run: async ({ client, isOver, note }) => {
    let mails = 0
    const notifications = Array.from({ length: 1_000 }, (_, nth) => ({
      channel: 'email',
      to: `a${nth}@example.com`,
      body: 'x',
      email: {
        cc: Array.from({ length: 25 }, (_, copy) => `c${nth}-${copy}@example.com`),
        bcc: Array.from({ length: 25 }, (_, copy) => `b${nth}-${copy}@example.com`),
      },
    }))
    while (!isOver()) {
      const { text, status } = await client.ask({
        method: 'POST',
        path: '/v1/notifications/batch',
        body: { notifications },
      })
      const accepted = status === 201 ? (JSON.parse(text) as { accepted: number }).accepted : 0
      mails += accepted
      if (accepted === 0) break
    }
    note(
      `${mails} mails to ${mails * 51} addressees were accepted; the plan allows 1,000 notifications an hour`,
    )
  },
})
