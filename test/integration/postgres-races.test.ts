import { expect, it } from 'vitest'
import type { Storage } from '../../src/core/ports/storage/storage.ts'
import {
  accept,
  claim,
  deliver,
  ended,
  endpoint,
  note,
  notes,
  page,
  sent,
} from '../../src/testing/storage/fixtures.ts'
import { eventually } from '../support/eventually.ts'
import { describeWithOwnPostgres, ownPostgres } from '../support/own-postgres.ts'
import { onPostgres, uniqueSchema } from '../support/postgres.ts'
import { holdsText, tappedPool } from '../support/tapped-pool.ts'
import { unfinished } from '../support/unfinished.ts'

const ORGANIZATION = 'org_default'
const server = ownPostgres()

describeWithOwnPostgres('transactions that overlap', () => {
  /** A pool that, once armed, holds the first query with this text in it back until it is let go. */
  function holding(part: string) {
    const real = server.pool(4)
    let armed = false
    let reached = false
    let letGo = (): void => {}
    const open = new Promise<void>((resolve) => {
      letGo = resolve
    })
    return {
      pool: tappedPool(real, async (client, query) => {
        if (armed && holdsText(query, part)) {
          armed = false
          reached = true
          await open
        }
        return client.query(query)
      }),
      arm() {
        armed = true
      },
      reached: () => reached,
      letGo: () => letGo(),
    }
  }

  /** Until `answer` is there, or waits for a lock of the other transaction. */
  async function answeredOrWaiting(answer: Promise<unknown>): Promise<void> {
    let answered = false
    void answer.then(() => {
      answered = true
    })
    await eventually(async () => {
      return answered || (await server.lockAwaited())
    })
  }

  it('match a report to the hand-over that is being settled', async () => {
    const schema = uniqueSchema()
    const gate = holding('COMMIT')
    const settling = await server.open(schema, { pool: gate.pool, connectionString: undefined })
    const reporting = await server.open(schema)
    const [id = ''] = await accept(settling, [note()])
    const [job] = await claim(settling, 1)
    if (job === undefined) throw new Error('no job')
    gate.arm()
    const settled = settling.settle([ended(job, [sent({ providerMessageId: 'm-1' })])])
    await eventually(gate.reached)
    const fact = { type: 'delivered', provider: 'smtp', providerMessageId: 'm-1' } as const
    const report = { provider: 'smtp', organizationId: null, dedupeKey: 'r-1', fact }
    const answer = reporting.recordReceipts([report])
    await answeredOrWaiting(answer)
    gate.letGo()
    expect(await settled).toMatchObject([{ kind: 'settled' }])
    expect(await answer).toMatchObject([{ kind: 'recorded', notificationId: id }])
    expect((await reporting.notifications.get(id))?.status).toBe('delivered')
  })

  it('either redeliver or do not count a delivery that is being removed', async () => {
    const schema = uniqueSchema()
    const gate = holding('DELETE FROM')
    const sweeping = await server.open(schema, { pool: gate.pool, connectionString: undefined })
    const redelivering = await server.open(schema)
    const { id: hook } = await endpoint(redelivering)
    await redelivering.webhookEndpoints.update(hook, { status: 'disabled' })
    await accept(redelivering, [note()])
    const [job] = await claim(redelivering, 1)
    if (job === undefined) throw new Error('no job')
    await redelivering.settle([ended(job)])
    await redelivering.webhookEndpoints.update(hook, { status: 'active' })
    gate.arm()
    const swept = sweeping.expire({ what: { organizationId: ORGANIZATION, olderThanMs: 0 }, most: 10 })
    await eventually(gate.reached)
    const redelivered = redelivering.webhookEndpoints.redeliver(hook, { since: 0, most: 10 })
    await answeredOrWaiting(redelivered)
    gate.letGo()
    expect((await swept).removed).toEqual({ notifications: 1, deliveries: 1 })
    expect(await claim(redelivering, 10, hook)).toHaveLength(Number(await redelivered))
  })

  /** Settles one notification, whose event goes to this endpoint, while `meanwhile` happens between its look at it and its write. */
  async function announcing(
    status: 'active' | 'disabled',
    meanwhile: (storage: Storage, hook: string) => Promise<unknown>,
  ): Promise<{ readonly storage: Storage; readonly hook: string; readonly met: unknown }> {
    const schema = uniqueSchema()
    const gate = holding('delivery_numbers')
    const settling = await server.open(schema, { pool: gate.pool, connectionString: undefined })
    const storage = await server.open(schema)
    const { id: hook } = await endpoint(storage)
    await storage.webhookEndpoints.update(hook, { status })
    await accept(storage, [note()])
    const jobs = await claim(storage, 1)
    gate.arm()
    const settled = settling.settle(jobs.map((job) => ended(job)))
    await eventually(gate.reached)
    const met = meanwhile(storage, hook)
    await answeredOrWaiting(met)
    gate.letGo()
    expect(await settled).toMatchObject([{ kind: 'settled' }])
    return { storage, hook, met: await met }
  }

  it.each(['active', 'disabled'] as const)(
    'leave nothing behind of an event for an endpoint that is being deleted while it is %s',
    async (status) => {
      const { storage, hook, met } = await announcing(status, (other, id) =>
        other.webhookEndpoints.delete(id, 10),
      )
      expect(met).toBe('deleted')
      expect(await claim(storage, 10, hook)).toEqual([])
      expect(await storage.webhookEndpoints.deliveries({ endpointId: hook }, page())).toMatchObject({
        items: [],
      })
      expect(await unfinished(storage)).toMatchObject({ lanes: [], held: 0 })
    },
  )

  it('redeliver an event whose endpoint is being enabled', async () => {
    const { storage, hook, met } = await announcing('disabled', async (other, id) => {
      await other.webhookEndpoints.update(id, { status: 'active' })
      return other.webhookEndpoints.redeliver(id, { since: 0, most: 10 })
    })
    expect(met).toBe(1)
    expect(await claim(storage, 10, hook)).toHaveLength(1)
  })

  it('leave no attempt behind of a delivery whose endpoint is being deleted', async () => {
    const schema = uniqueSchema()
    const gate = holding('COMMIT')
    const settling = await server.open(schema, { pool: gate.pool, connectionString: undefined })
    const storage = await server.open(schema)
    const { id: hook } = await endpoint(storage)
    await accept(storage, [note()])
    await deliver(storage)
    const [job] = await claim(settling, 1, hook)
    if (job === undefined) throw new Error('no job')
    gate.arm()
    const attempt = { attempt: 1, status: 200, response: '', durationMs: 1, succeeded: true }
    const { jobId, token } = job
    const settled = settling.settle([
      { kind: 'event', jobId, token, attempt, ended: 'delivered', next: { kind: 'end' } },
    ])
    await eventually(gate.reached)
    const deleted = storage.webhookEndpoints.delete(hook, 10)
    await answeredOrWaiting(deleted)
    gate.letGo()
    expect(await settled).toMatchObject([{ kind: 'settled' }])
    expect(await deleted).toBe('deleted')
    const left = await onPostgres(server.url, (client) =>
      client.query(
        `SELECT event_id FROM "${schema}".delivery_attempts UNION ALL SELECT event_id FROM "${schema}".deliveries`,
      ),
    )
    expect(left.rows).toEqual([])
  })
})

describeWithOwnPostgres('an endpoint that is enabled while a claim holds its deliveries back', () => {
  it('gets them', async () => {
    const schema = uniqueSchema()
    const storage = await server.open(schema)
    const { id } = await endpoint(storage)
    await accept(storage, notes(3))
    for (let left = 3; left > 0; left -= 1) await deliver(storage)
    const setStatus = (status: string) =>
      `UPDATE "${schema}".webhook_endpoints SET status = '${status}' WHERE id = '${id}'`
    await onPostgres(server.url, async (client) => {
      await client.query(setStatus('disabled'))
      await client.query('BEGIN')
      await client.query(setStatus('active'))
      const claimed = claim(storage, 1, id)
      await eventually(server.lockAwaited)
      await client.query('COMMIT')
      expect(await claimed).toEqual([])
    })
    expect(await claim(storage, 5, id)).toHaveLength(3)
  })
})
