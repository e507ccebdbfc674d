import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { type OrganizationValue, organizationKind } from '../../../../src/core/tenancy/organization.ts'
import { createNotifier } from '../../../../src/create-notifier.ts'
import { deletionOfOrganizations } from '../../../../src/features/organizations/deletion.ts'
import { fakeClock } from '../../../../src/testing/fake-clock.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { inMemory } from '../../../support/in-memory.ts'

const ID = 'org_acme'
const message = { channel: 'email', to: 'ada@example.com', body: 'Hello' } as const

describe('deleting an organization', () => {
  async function start(deliver = false) {
    const clock = fakeClock()
    const storage = inMemory(clock)
    const notifier = createNotifier({ channels: { email: recordingProvider() }, storage, clock })
    onTestFinished(() => notifier.stop())
    await notifier.start({ deliver })
    await notifier.organizations.create({ id: ID, name: 'Acme', plan: 'enterprise' })
    return { clock, storage, notifier, tenant: notifier.organization(ID) }
  }

  it('is refused while messages wait, says how many and what to do, and changes nothing', async () => {
    const { notifier, tenant } = await start()
    await tenant.send(message)
    const refused = notifier.organizations.delete(ID)
    await expect(refused).rejects.toMatchObject({
      code: 'organization_in_use',
      details: { field: 'id', waiting: 1 },
      message: expect.stringMatching(
        /^1 notifications or webhook events of "org_acme" wait\. .*\{ force: true \}/,
      ),
    })
    expect(await notifier.organizations.get(ID)).toMatchObject({ deleting: false })
    await tenant.send(message)
    expect(await notifier.organizations.delete(ID, { force: true })).toEqual({ id: ID, notifications: 2 })
    await expect(tenant.send(message)).rejects.toMatchObject({ code: 'not_found' })
    await expect(notifier.organizations.delete(ID)).rejects.toMatchObject({ code: 'not_found' })
  })

  it('is refused of org_default, of an unknown one, and with a wrong option', async () => {
    const { notifier } = await start()
    for (const [id, options, code] of [
      ['org_default', { force: true }, 'invalid_parameter'],
      ['org_none', {}, 'not_found'],
      [null as never, {}, 'invalid_parameter'],
      [ID, { force: 'yes' as never }, 'invalid_parameter'],
      [ID, true as never, 'invalid_parameter'],
    ] as const) {
      await expect(notifier.organizations.delete(id, options)).rejects.toMatchObject({ code })
    }
    expect(await notifier.organizations.get(ID)).toMatchObject({ deleting: false })
  })

  it('that its process has left is finished by the pass of the retention', async () => {
    const { clock, storage, notifier, tenant } = await start(true)
    await tenant.suppressions.add({ channel: 'email', to: 'bob@example.com' })
    for (let count = 0; count < 250; count += 1) await tenant.send(message)
    expect(await storage.deletions.begin(ID, { force: true, kinds: [] })).toBe(0)
    await clock.advance(6 * 60_000)
    expect(await storage.records.get(organizationKind, [{ id: ID }])).toEqual([null])
    await notifier.organizations.create({ id: ID, name: 'Acme' })
    expect((await tenant.suppressions.list()).items).toEqual([])
  })

  it('goes on under a new lease before the old one ends', async () => {
    const clock = fakeClock()
    const purge = vi.fn(async () => ({ notifications: 100, left: 'more' as const }))
    const value = { name: 'Acme', deleting: 'force' } as OrganizationValue
    const record = { id: ID, organizationId: null, revision: 2, createdAt: 0, readAt: 1_000, value }
    const due = { kind: organizationKind, record, token: 7, claims: 1, leaseMs: 60_000 }
    const handled = deletionOfOrganizations({ purge }, clock).handle(due, new AbortController().signal)
    await clock.advance(30_000)
    expect(await handled).toMatchObject({
      writes: [{ do: 'replace', id: ID, token: 7, value: { purgeAt: 1_000 } }],
    })
    expect(purge.mock.calls.length).toBeGreaterThan(100)
  })
})
