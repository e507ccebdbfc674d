import assert from 'node:assert/strict'
import { DEFAULT_ORGANIZATION } from '../../domain/organization.ts'
import { countOf, organization, page, readAll, TEN } from './fixtures.ts'
import type { Check } from './harness.ts'

export function organizationChecks(check: Check): void {
  check('org_default exists from the start', async ({ storage }) => {
    const stored = await storage.organizations.get(DEFAULT_ORGANIZATION)
    assert.deepEqual([stored?.id, stored?.plan, stored?.smsCountries], [DEFAULT_ORGANIZATION, null, null])
    assert.equal(
      await storage.organizations.create({
        id: DEFAULT_ORGANIZATION,
        name: 'Mine',
        plan: null,
        smsCountries: null,
      }),
      null,
    )
  })

  check('starting again changes nothing', async ({ storage }) => {
    await storage.organizations.update(DEFAULT_ORGANIZATION, { name: 'Renamed' })
    await storage.start()
    assert.equal((await storage.organizations.get(DEFAULT_ORGANIZATION))?.name, 'Renamed')
    assert.equal((await storage.organizations.list(page())).items.length, 1)
  })

  check('an organization is stored as it was given', async ({ storage }) => {
    const given = {
      id: 'org_a',
      name: 'Acme',
      plan: 'pro',
      smsCountries: ['+49', '+1'],
      retentionDays: 30,
      tracking: { opens: true, clicks: false },
    }
    const created = await storage.organizations.create(given)
    assert.deepEqual(created, { ...given, createdAt: created?.createdAt })
    assert.equal(typeof created?.createdAt, 'number')
    assert.deepEqual(await storage.organizations.get('org_a'), created)
    assert.equal(await storage.organizations.get('org_unknown'), null)
  })

  check('of ten creates of one id in a race one succeeds', async ({ storage }) => {
    const answers = await Promise.all(
      TEN.map((index) =>
        storage.organizations.create({ id: 'org_a', name: `Acme ${index}`, plan: null, smsCountries: null }),
      ),
    )
    assert.equal(
      countOf(answers, (answer) => answer !== null),
      1,
    )
    const winner = answers.find((answer) => answer !== null)
    assert.deepEqual(await storage.organizations.get('org_a'), winner)
  })

  check('an update changes what it names', async ({ storage }) => {
    const given = { id: 'org_a', name: 'Acme', plan: 'pro', smsCountries: null, retentionDays: 7 }
    const created = await storage.organizations.create(given)
    assert.ok(created !== null)
    const renamed = await storage.organizations.update('org_a', { name: 'Apex' })
    assert.deepEqual(renamed, { ...created, name: 'Apex' })
    assert.deepEqual(await storage.organizations.update('org_a', { plan: null }), { ...renamed, plan: null })
    assert.deepEqual(await storage.organizations.get('org_a'), { ...renamed, plan: null })
    for (const retentionDays of [1, null]) {
      const kept = await storage.organizations.update('org_a', { retentionDays })
      assert.deepEqual(kept, { ...renamed, plan: null, retentionDays })
      assert.deepEqual(await storage.organizations.get('org_a'), kept)
    }
    assert.equal(await storage.organizations.update('org_unknown', { name: 'x' }), null)
  })

  check('the countries of text messages are set, changed, emptied and freed', async ({ storage }) => {
    const given = { id: 'org_a', name: 'Acme', plan: null, smsCountries: ['+49'] }
    const created = await storage.organizations.create(given)
    assert.deepEqual(await storage.organizations.update('org_a', { name: 'Apex' }), {
      ...created,
      name: 'Apex',
    })
    for (const smsCountries of [['+41', '+43'], [], null]) {
      const changed = await storage.organizations.update('org_a', { smsCountries })
      assert.deepEqual(changed, { ...created, name: 'Apex', smsCountries })
      assert.deepEqual(await storage.organizations.get('org_a'), changed)
    }
  })

  check('what is counted is nothing unless it is set, and changes alone', async ({ storage }) => {
    const off = { opens: false, clicks: false }
    assert.deepEqual((await storage.organizations.get(DEFAULT_ORGANIZATION))?.tracking, off)
    const given = { id: 'org_a', name: 'Acme', plan: null, smsCountries: ['+49'], retentionDays: 7 }
    const created = await storage.organizations.create(given)
    assert.deepEqual(created?.tracking, off)
    for (const tracking of [{ opens: true, clicks: true }, { opens: false, clicks: true }, off]) {
      const changed = await storage.organizations.update('org_a', { tracking })
      assert.deepEqual(changed, { ...created, tracking })
      assert.deepEqual(await storage.organizations.update('org_a', { name: 'Acme' }), changed)
      assert.deepEqual(await storage.organizations.get('org_a'), changed)
    }
  })

  check('organizations are listed newest first, in pages', async ({ storage }) => {
    const ids: string[] = [DEFAULT_ORGANIZATION]
    for (let index = 0; index < 6; index += 1) ids.unshift(await organization(storage))
    const read = await readAll(
      (request) => storage.organizations.list(request),
      3,
      async () => void (await organization(storage)),
    )
    assert.deepEqual(
      read.map(({ id }) => id),
      ids,
    )
  })
}
