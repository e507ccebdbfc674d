import pg from 'pg'
import { expect, it, onTestFinished } from 'vitest'
import { custodyWorld } from '../support/custody-world.ts'
import { eventually } from '../support/eventually.ts'
import { describeWith } from '../support/left-out.ts'
import { sharedPostgres, uniqueSchema, whyNoPostgres } from '../support/postgres.ts'

const ada = { channel: 'email', to: 'ada@example.com' } as const
const message = { ...ada, subject: 'Hi', body: 'Hello' }
const later = { sendAt: new Date(Date.now() + 86_400_000).toISOString() }

describeWith(whyNoPostgres(), 'an erasure that begins while a transaction of the application is open', () => {
  it.each(['COMMIT', 'ROLLBACK'])('waits for its %s, and erases what it has sent', async (end) => {
    const url = await sharedPostgres()
    const { notifier, exported, moveOn } = await custodyWorld({ postgres: { url, schema: uniqueSchema() } })
    const client = new pg.Client({ connectionString: url })
    await client.connect()
    onTestFinished(() => client.end())
    await notifier.send({ ...message, ...later })
    await client.query('BEGIN')
    await notifier.send({ ...message, ...later }, { tx: client } as never)
    const { id } = await notifier.people.erase(ada)
    const erasure = () => notifier.people.getErasure(id ?? '')
    const { counts } = await erasure()
    expect(counts.notifications).toBe(1)
    // A pass falls due again and again, and none may be the last.
    for (let passes = 0; passes < 5; passes += 1) {
      moveOn(61_000)
      await new Promise((resolve) => setTimeout(resolve, 300))
      expect(await erasure()).toMatchObject({ status: 'running', counts })
    }
    await client.query(end)
    const waited = end === 'COMMIT' ? 1 : 0
    await eventually(async () => {
      moveOn(11_000)
      const { status, counts: all } = await erasure()
      return status === 'completed' && all.notifications === 1 + waited && all.cancelled === 1 + waited
    })
    expect(await exported(ada)).toEqual([])
  })
})
