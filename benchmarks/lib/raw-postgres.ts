import type pg from 'pg'

/** The same rows and tables by hand: the floor that PostgreSQL and `pg` allow. */
export interface RawPostgres {
  /** Inserts `count` notifications with their jobs, `perCommit` per statement. Returns `count`. */
  insert(count: number, perCommit: number): Promise<number>
  /** Claims, starts and settles all ready jobs, `perSet` at a time, with one commit per step. */
  deliver(perSet: number): Promise<number>
}

const INSERT = `
  WITH given AS MATERIALIZED (
    SELECT nextval('carillon.notification_numbers') AS seq, g.* FROM unnest(
      $2::text[], $3::text[], $4::text[], $5::text[], $6::text[]) AS g (id, organization, channel, recipient, content)),
  stored AS (
    INSERT INTO carillon.notifications (seq, created_at, high, id, organization, channel, lane, recipient, content)
    SELECT seq, $1::bigint, false, id, organization, channel, channel, recipient, content FROM given)
  INSERT INTO carillon.jobs (id, place, due_at, state, high, lane, organization, subject)
  SELECT 2 * seq, 2 * seq, $1::bigint, 0, false, channel, organization, id FROM given`

/** Without round-robin over organizations. */
const CLAIM = `
  WITH chosen AS (
    SELECT id FROM carillon.jobs
    WHERE state = 0 AND lane = 'email' AND NOT high AND organization = 'org_default'
    ORDER BY place LIMIT $1 FOR UPDATE SKIP LOCKED),
  leased AS (
    UPDATE carillon.jobs AS j SET state = 2, token = $2::bigint, lease_until = $3::bigint
    FROM chosen WHERE j.id = chosen.id RETURNING j.id, j.subject)
  SELECT leased.id, leased.subject, n.recipient, n.content, n.created_at
  FROM leased JOIN carillon.notifications AS n ON n.id = leased.subject`

const START = `
  UPDATE carillon.jobs SET attempts = attempts + 1, provider = 'none'
  WHERE id = ANY ($1::bigint[]) AND state = 2 AND token = $2 AND lease_until > $3`

const SETTLE = `
  WITH ended AS (
    DELETE FROM carillon.jobs WHERE id = ANY ($1::bigint[]) AND state = 2 AND token = $2 RETURNING id, subject),
  added AS (
    INSERT INTO carillon.events (notification, sequence, seq, organization, status, fact, at)
    SELECT subject, 2, id / 2, 'org_default', 'sent', $4, $3::bigint FROM ended)
  INSERT INTO carillon.states
    (notification, status, sequence, published, fold, provider, organization, created_at, seq)
  SELECT subject, 'sent', 2, 1, $5, 'none', 'org_default', $3::bigint, id / 2 FROM ended`

const FACT =
  '{"type":"sent","provider":"none","attempt":1,"durationMs":0,"message":"a text as long as usual","segments":1}'
const FOLD = '{"own":10,"handovers":{"none#1":[30,0]}}'
const CONTENT = JSON.stringify({
  subject: 'Your parcel',
  body: 'Your parcel was handed to the carrier today and should reach you within two days.',
})

/** @param client runs all statements in sequence */
export function rawPostgres(client: pg.Pool | pg.PoolClient): RawPostgres {
  let made = 0
  const idBase = Date.now() + 86_400_000

  return {
    async insert(count, perCommit) {
      for (let done = 0; done < count; done += perCommit) {
        const numbers = Array.from({ length: Math.min(perCommit, count - done) }, () => {
          made += 1
          return made
        })
        await client.query(INSERT, [
          Date.now(),
          numbers.map((number) => `notif_${idBase}${String(number).padStart(12, '0')}`),
          numbers.map(() => 'org_default'),
          numbers.map(() => 'email'),
          numbers.map((number) => `customer-${number}@example.com`),
          numbers.map(() => CONTENT),
        ])
      }
      return count
    },
    async deliver(perSet) {
      let delivered = 0
      for (let token = 1; ; token += 1) {
        const { rows } = await client.query<{ id: string; content: string }>(CLAIM, [
          perSet,
          token,
          Date.now() + 60_000,
        ])
        if (rows.length === 0) return delivered
        for (const { content } of rows) JSON.parse(content)
        const ids = rows.map(({ id }) => id)
        await client.query(START, [ids, token, Date.now()])
        await client.query(SETTLE, [ids, token, Date.now(), FACT, FOLD])
        delivered += rows.length
      }
    },
  }
}
