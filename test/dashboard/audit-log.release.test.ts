import { expect, it } from 'vitest'
import { assertAccessible, assertFits } from '../support/dashboard/browser.ts'
import { signIn } from '../support/dashboard/sign-in.ts'
import { describeDashboard } from '../support/dashboard/suite.ts'

describeDashboard('the page of the audit log', {}, (suite) => {
  it('shows who changed what, finds it by filters, and shows nothing without Full Access', async () => {
    const { page, host } = suite
    const { notifier } = host
    await notifier.actingAs('ada@example.com', async () => {
      await notifier.templates.create({ name: 'welcome', channel: 'email', body: 'Hello' })
      await notifier.templates.update('welcome', { name: 'hello' })
    })
    await signIn(page, host, await host.key(), '/audit-log')
    const row = page.getByRole('row', { name: /template.updated hello name: welcome → hello/ })
    await row.waitFor()
    expect(await row.textContent()).toContain('Code ada@example.com')
    await assertAccessible(page)
    await assertFits(page)
    await page.getByLabel('Action').selectOption('template.created')
    await page.getByRole('row', { name: /template.created welcome/ }).waitFor()
    await expect.poll(() => page.getByRole('row').count()).toBe(2)
    await page.getByLabel('Key ID or person').fill('nobody')
    await page.getByText('Nothing matches these filters').waitFor()
    await assertAccessible(page)
  })

  it('asks for Full Access', async () => {
    const { page, host } = suite
    await signIn(page, host, await host.key('Write'), '/audit-log')
    await page.getByText('This needs a key with Full Access permission.').waitFor()
    await assertAccessible(page)
  })

  it('shows operators all organizations, and their own changes', async () => {
    const { page, host } = suite
    await host.notifier.organizations.create({ id: 'org_acme', name: 'Acme' })
    await signIn(page, host, await host.operatorKey(), '/audit-log', '*')
    await page.getByRole('row', { name: /organization.created Acme .* Acme/ }).waitFor()
    await page
      .getByRole('row', { name: /operator_key.created .* All organizations/ })
      .first()
      .waitFor()
    await assertAccessible(page)
  })
})
