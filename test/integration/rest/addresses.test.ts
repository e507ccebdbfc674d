import { afterEach, beforeEach, expect, it } from 'vitest'
import { codeOf } from '../../support/http-client.ts'
import { type Host, startHost } from '../../support/rest-host.ts'

let host: Host
let headers: { authorization: string }

beforeEach(async () => {
  host = await startHost()
  headers = await host.key()
})
afterEach(() => host.close())

async function addressesOf(path: string): Promise<unknown> {
  const { json } = await host.call({ path, headers })
  return (json?.items as { to: string }[] | undefined)?.map(({ to }) => to) ?? json
}

it('finds messages by address and by how it begins, whatever the case', async () => {
  const mail = { channel: 'email', subject: 'Hello', body: 'Hi' } as const
  for (const to of ['Ada@Example.com', 'adam@example.com', 'bob@example.com'])
    await host.notifier.send({ ...mail, to })
  expect(await addressesOf('/v1/notifications?to=ada@example.com')).toEqual(['Ada@Example.com'])
  expect(await addressesOf('/v1/notifications?toPrefix=ADA')).toEqual(['adam@example.com', 'Ada@Example.com'])
  expect(await addressesOf('/v1/notifications?toPrefix=da@')).toEqual([])
  expect(await addressesOf('/v1/notifications?toPrefix=ada&status=cancelled')).toEqual([])
  expect(await addressesOf('/v1/dead-letters?toPrefix=ada')).toEqual([])
  const { notifications, deadLetters } = host.notifier
  const found = await notifications.list({ toPrefix: 'adA@' })
  expect(found.items.map(({ to }) => to)).toEqual(['Ada@Example.com'])
  expect((await deadLetters.retry({ filter: { toPrefix: 'ada@' }, dryRun: true })).retried).toBe(0)
})

it('names a wrong beginning', async () => {
  const answer = await host.call({ path: '/v1/notifications?toPrefix=', headers })
  expect([answer.status, codeOf(answer)]).toEqual([400, 'invalid_parameter'])
  expect(answer.text).toContain('toPrefix')
})
