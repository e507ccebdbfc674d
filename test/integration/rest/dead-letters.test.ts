import { afterEach, expect, it } from 'vitest'
import { accept, claimOne, ended, note } from '../../../src/testing/storage/fixtures.ts'
import { eventually } from '../../support/eventually.ts'
import { type Answer, codeOf } from '../../support/http-client.ts'
import { type Host, startHost } from '../../support/rest-host.ts'

let host: Host
afterEach(() => host.close())

it('dead letters are listed, counted and retried over REST', async () => {
  host = await startHost()
  const headers = await host.key('Full Access')
  const request = (method: string, path: string, body?: object): Promise<Answer> =>
    host.call({ method, path, headers, body })
  const ids: string[] = []
  for (const [index, code] of (['mailbox_full', 'provider_error', 'provider_error'] as const).entries()) {
    const [id = ''] = await accept(host.storage, [note({ lane: `nowhere-${index}` })])
    const job = await claimOne(host.storage, `nowhere-${index}`)
    await host.storage.settle([ended(job, [{ type: 'failed', code, provider: 'old', attempt: 1 }])])
    ids.push(id)
  }
  const [a, b, c] = ids
  const idsOf = ({ json }: Answer): unknown => {
    const items = (json?.items ?? []) as readonly { id: string }[]
    return items.map(({ id }) => id)
  }
  expect(idsOf(await request('GET', '/v1/dead-letters'))).toEqual([c, b, a])
  expect(idsOf(await request('GET', '/v1/dead-letters?code=mailbox_full&provider=old'))).toEqual([a])
  expect(idsOf(await request('GET', `/v1/dead-letters?ids=${a},${b}&limit=1`))).toEqual([b])
  const wrong = await request('GET', '/v1/dead-letters?code=mailbox_ful')
  expect([wrong.status, codeOf(wrong)]).toEqual([400, 'invalid_parameter'])
  expect(JSON.stringify(wrong.json)).toContain('must be an error code of the catalogue, or of a plug-in.')

  const path = '/v1/dead-letters/retry'
  const empty = await request('POST', path, {})
  expect([empty.status, codeOf(empty)]).toEqual([422, 'missing_required_field'])
  const filter = { code: 'provider_error' }
  const dry = await request('POST', path, { filter, dryRun: true })
  expect([dry.status, dry.json]).toMatchObject([200, { dryRun: true, retried: 2, more: false }])
  expect(host.sent).toEqual([])
  const done = await request('POST', path, { filter, ratePerSecond: 1_000, most: 1 })
  expect(done.json).toMatchObject({
    dryRun: false,
    retried: 1,
    skipped: { expired: 0, unroutable: 0, contentRemoved: 0 },
    more: true,
  })
  expect((await request('POST', path, { filter })).json).toMatchObject({ retried: 1, more: false })
  await eventually(() => host.sent.length === 2)

  const one = await request('POST', `/v1/notifications/${a}/retry`)
  expect([one.status, one.json]).toMatchObject([200, { id: a }])
  const record = await eventually(async () => {
    const { json } = await request('GET', `/v1/notifications/${a}`)
    return json?.status === 'sent' ? json : null
  })
  expect(
    (record.timeline as { event: string; attempt: number }[]).map((row) => [row.event, row.attempt]),
  ).toEqual([
    ['queued', null],
    ['failed', 1],
    ['retried', null],
    ['sent', 2],
  ])
  const again = await request('POST', `/v1/notifications/${a}/retry`)
  expect([again.status, codeOf(again)]).toEqual([409, 'not_retryable'])
})

it('dead letters are asked for by a hundred ids of any length; a list that is wrong is one wrong parameter', async () => {
  host = await startHost()
  const headers = await host.key('Read Only')
  const listed = (ids: string): Promise<Answer> => host.call({ path: `/v1/dead-letters?ids=${ids}`, headers })
  const long = (count: number): string => Array<string>(count).fill('x'.repeat(64)).join(',')
  expect((await listed(long(100))).status).toBe(200)
  for (const ids of [
    '',
    ',',
    'a,,b',
    'a,',
    'x'.repeat(65),
    `a,${'\u{10400}'.repeat(33)}`,
    long(101),
    'a%0Ab',
  ]) {
    const answer = await listed(encodeURIComponent(decodeURIComponent(ids)))
    expect([answer.status, codeOf(answer), answer.json?.error]).toMatchObject([
      400,
      'invalid_parameter',
      { details: { field: 'ids' } },
    ])
  }
})
