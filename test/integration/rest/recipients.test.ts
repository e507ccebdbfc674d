import { afterEach, expect, it } from 'vitest'
import type { SendInput } from '../../../src/core/accept/input.ts'
import { createLinkSigner } from '../../../src/core/links/link-signer.ts'
import { emailHash } from '../../support/person-hashes.ts'
import { type Host, startHost } from '../../support/rest-host.ts'

let host: Host
afterEach(() => host.close())

const ADA = 'ada@example.com'
const secret = 'the secret of this service, long enough'
const resolve = (ids: readonly string[]) => new Map(ids.map((id) => [id, { channels: { email: ADA } }]))

it('a send to several addresses of one person answers with its group, also when it is replayed', async () => {
  const email = ['ada@example.com', 'ada@example.org']
  const both = (ids: readonly string[]) => new Map(ids.map((id) => [id, { channels: { email } }]))
  host = await startHost({ recipients: { resolve: both } })
  const headers = { ...(await host.key()), 'idempotency-key': 'once' }
  const body = { channel: 'email', recipient: 'user:42', subject: 'Hi', body: 'Hi' }
  const request = { method: 'POST', path: '/v1/notifications', headers, body }
  const first = await host.call(request)
  expect([first.status, first.json]).toMatchObject([
    201,
    { groupId: expect.stringMatching(/^grp_/), ids: [first.json?.id, expect.stringMatching(/^notif_/)] },
  ])
  const replayed = await host.call(request)
  expect([replayed.headers['idempotent-replayed'], replayed.json]).toEqual([
    'true',
    { ...first.json, status: expect.any(String) },
  ])
})

it('an application turns a category on again for a person who left it by a link, and for nobody else', async () => {
  host = await startHost({ secret, recipients: { resolve }, categories: { news: { name: 'News' } } })
  const { send, waitFor, preferences } = host.notifier
  const leave = async (...recipient: string[]) => {
    host.clock.advance(1_000)
    const target = [
      'org_default',
      'email',
      await emailHash(host.storage, ADA),
      'news',
      'notif_1',
      ...recipient,
    ]
    const token = createLinkSigner([secret]).sign('unsubscribe', JSON.stringify(target))
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const body = 'List-Unsubscribe=One-Click'
    return host.call({ method: 'POST', path: `/unsubscribe?t=${token}`, headers, body })
  }
  const turnOn = () => {
    host.clock.advance(1_000)
    return preferences.change({ recipient: 'user:42' }, { categories: { news: true } })
  }
  const endOf = async (to: { to: string } | { recipient: string }) => {
    const { id } = await send({
      channel: 'email',
      category: 'news',
      subject: 'Hi',
      body: 'Hi',
      ...to,
    } as SendInput)
    return (await waitFor(id)).status
  }
  const ends = async () => [
    await endOf({ recipient: 'user:42' }),
    await endOf({ to: ADA }),
    await endOf({ recipient: 'user:43' }),
  ]
  expect((await leave('user:42')).status).toBe(200)
  expect(await ends()).toEqual(['skipped', 'skipped', 'skipped'])
  await turnOn()
  expect(await ends()).toEqual(['sent', 'skipped', 'skipped'])
  await leave()
  expect(await ends()).toEqual(['skipped', 'skipped', 'skipped'])
  // The same value again is a new choice.
  await turnOn()
  expect(await ends()).toEqual(['sent', 'skipped', 'skipped'])
})
