import assert from 'node:assert/strict'
import type { NotificationFilter } from '../../core/ports/storage/notifications.ts'
import type { Storage } from '../../core/ports/storage/storage.ts'
import { ALL_ORGANIZATIONS } from '../../core/tenancy/all-organizations.ts'
import { DEFAULT_ORGANIZATION } from '../../core/tenancy/organization.ts'
import { accept, deliver, LANE, note, notes, organization, readAll } from './fixtures.ts'
import type { Check } from './harness.ts'

type Asked = Partial<NotificationFilter>

async function listed(storage: Storage, filter: Asked, limit = 100): Promise<string[]> {
  const scope = { organizationId: DEFAULT_ORGANIZATION, ...filter }
  const found = await readAll((request) => storage.notifications.list(scope, request), limit)
  return found.map(({ to }) => to)
}

/** Asserts which addresses each filter finds, newest first. */
async function assertFound(
  storage: Storage,
  cases: readonly (readonly [filter: Asked, addresses: readonly string[]])[],
): Promise<void> {
  for (const [filter, addresses] of cases)
    assert.deepEqual({ filter, found: await listed(storage, filter) }, { filter, found: addresses })
}

const to = (address: string) => note({ to: address })

export function addressChecks(check: Check): void {
  check('a list is filtered by an address, whatever the case of its letters', async ({ storage }) => {
    await accept(storage, ['ada@example.com', 'Ada@Example.COM', 'bob@example.com'].map(to))
    await assertFound(storage, [
      [{ to: 'aDa@example.com' }, ['Ada@Example.COM', 'ada@example.com']],
      [{ to: 'ada@example.co' }, []],
      [{ to: 'da@example.com' }, []],
    ])
  })

  check('a list is filtered by how an address begins', async ({ storage }) => {
    await accept(storage, ['ada@example.com', 'Ada@other.example', 'bob@ada.example', '+4917'].map(to))
    await assertFound(storage, [
      [{ toPrefix: 'ADA@' }, ['Ada@other.example', 'ada@example.com']],
      [{ toPrefix: 'ada@example.com' }, ['ada@example.com']],
      [{ toPrefix: '+49' }, ['+4917']],
      [{ toPrefix: 'example' }, []],
      [{ toPrefix: 'ada@example.com.' }, []],
      [{ toPrefix: 'ada@', to: 'ada@example.com' }, ['ada@example.com']],
      [{ toPrefix: 'bob@', to: 'ada@example.com' }, []],
      [{ toPrefix: 'ada@', channel: 'sms' }, []],
      [{ toPrefix: 'ada@', status: 'failed' }, []],
    ])
  })

  check('no character of an address stands for others', async ({ storage }) => {
    const given = ['a_b@x.example', 'acb@x.example', 'a%b@x.example', 'a*b', 'a\\b', 'aÜb', 'aüb', 'a[b]']
    await accept(storage, given.map(to))
    await assertFound(
      storage,
      given.flatMap((address) => [
        [{ to: address }, [address]] as const,
        [{ toPrefix: address.slice(0, 3) }, [address]] as const,
      ]),
    )
    await assertFound(storage, [[{ toPrefix: '%' }, []]])
  })

  check('an address is found in its organization, and over all', async ({ storage }) => {
    const other = await organization(storage)
    const notify = (address: string, organizationId: string) => accept(storage, [to(address)], organizationId)
    await notify('ada@example.com', DEFAULT_ORGANIZATION)
    await notify('Ada@example.com', other)
    await notify('bob@example.com', other)
    const all = { organizationId: ALL_ORGANIZATIONS }
    const both = ['Ada@example.com', 'ada@example.com']
    await assertFound(storage, [
      [{ to: 'ada@example.com' }, ['ada@example.com']],
      [{ toPrefix: 'ada@' }, ['ada@example.com']],
      [{ toPrefix: 'ADA@', organizationId: other }, ['Ada@example.com']],
      [{ toPrefix: 'bob@' }, []],
      [{ ...all, toPrefix: 'bob@' }, ['bob@example.com']],
    ])
    for (const filter of [{ to: 'ADA@example.com' }, { toPrefix: 'ada@' }])
      assert.deepEqual((await listed(storage, { ...all, ...filter })).sort(), both)
  })

  check('pages of one address are newest first, each once, while others arrive', async (harness) => {
    const { storage, advance } = harness
    const own: string[] = []
    for (let turn = 0; turn < 5; turn += 1) {
      const [first = '', , third = ''] = await accept(storage, [
        to('Ada@example.com'),
        ...notes(1).map(({ id }) => note({ id, to: 'adb@example.com' })),
        to('ada@example.com'),
      ])
      own.unshift(third, first)
      await advance(1_000)
    }
    for (const filter of [{ to: 'ada@example.com' }, { toPrefix: 'ada' }]) {
      const read = await readAll(
        (request) => storage.notifications.list({ organizationId: DEFAULT_ORGANIZATION, ...filter }, request),
        3,
        async () => {
          await accept(storage, [to('zoe@example.com')])
        },
      )
      assert.deepEqual(
        read.map(({ id }) => id),
        own,
      )
    }
  })

  check('dead letters are retried by address, whatever its case', async ({ storage }) => {
    await accept(storage, [to('Ada@example.com')])
    await deliver(storage, [{ type: 'failed', code: 'provider_error' }])
    const retry = async (filter: Asked): Promise<number> => {
      const scope = { organizationId: DEFAULT_ORGANIZATION, ...filter }
      const request = { filter: scope, lanes: { email: LANE }, most: 100, dryRun: true }
      return (await storage.notifications.retry(request)).retried
    }
    assert.deepEqual(
      await Promise.all([{ to: 'ada@EXAMPLE.com' }, { toPrefix: 'ada@' }, { toPrefix: 'bob@' }].map(retry)),
      [1, 1, 0],
    )
  })
}
