import { expect, it } from 'vitest'
import { assertAccessible } from '../support/dashboard/browser.ts'
import { describeDashboard } from '../support/dashboard/suite.ts'

describeDashboard('the pages of operators', {}, (suite) => {
  async function enter(path = ''): Promise<void> {
    const { page, host } = suite
    await page.goto(host.url + path)
    await page.getByLabel('API key').fill(await host.operatorKey())
    await page.getByRole('button', { name: 'Sign in' }).click()
  }

  it('creates, changes and deletes an organization, and shows its pages', async () => {
    const { page, host } = suite
    await enter('organizations')
    await page.getByRole('button', { name: 'Create organization' }).first().click()
    await page.getByLabel('Name', { exact: true }).fill('<b>Acme</b>')
    await page.getByLabel('ID', { exact: true }).fill('acme')
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByText(/"org_" and 1 to 60/).waitFor()
    await page.getByLabel('ID', { exact: true }).fill('org_acme')
    await assertAccessible(page)
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByText('The organization was created.').waitFor()
    await assertAccessible(page)
    await page.getByRole('button', { name: 'Edit: <b>Acme</b>' }).click()
    await page.getByLabel('Plan', { exact: true }).selectOption('pro')
    await page.getByText('100,000 notifications per hour, 1,000,000 notifications per month').waitFor()
    await page.getByLabel('Colour', { exact: true }).fill('blue')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText(/must be a colour as #rrggbb/).waitFor()
    await page.getByLabel('Colour', { exact: true }).fill('#0b5fff')
    await expect.poll(() => page.getByText('the next run removes nothing.').count()).toBe(2)
    await page.getByLabel('Keep contents (days)', { exact: true }).fill('7')
    await page.getByLabel('Keep notifications (days)', { exact: true }).fill('30')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The organization was saved.').waitFor()
    expect(await host.notifier.organizations.get('org_acme')).toMatchObject({
      plan: 'pro',
      branding: { name: null, logoUrl: null, color: '#0b5fff' },
      retention: { contentDays: 7, logDays: 30 },
    })

    await page.getByRole('link', { name: '<b>Acme</b>' }).click()
    await page.getByRole('link', { name: 'Limits' }).click()
    await page.getByText('Plan: pro').waitFor()
    await page.getByText(/^\d\S* \w+ of 10 GB used$/).waitFor()
    const next = new Date(Date.UTC(new Date().getUTCFullYear(), new Date().getUTCMonth() + 1, 1))
    const month = next.toLocaleString('en', { month: 'long', timeZone: 'UTC' })
    await page.getByText(new RegExp(`Resets on (${month} 1|1 ${month})`)).waitFor()
    await assertAccessible(page)
    await page.getByRole('button', { name: 'Change plan' }).click()
    expect(await page.getByLabel('Plan', { exact: true }).inputValue()).toBe('pro')
    await page.getByLabel('Plan', { exact: true }).selectOption('starter')
    await assertAccessible(page)
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('The plan was changed.').waitFor()
    await page.getByText('Plan: starter').waitFor()
    expect(await host.notifier.organizations.get('org_acme')).toMatchObject({ plan: 'starter' })
    expect(await page.getByRole('combobox', { name: 'Organization' }).textContent()).toContain('<b>Acme</b>')
    await page.goBack()
    await page.goBack()
    await page.getByRole('button', { name: 'Delete: <b>Acme</b>' }).click()
    const remove = page.getByRole('dialog').getByRole('button', { name: 'Delete' })
    expect(await remove.isDisabled()).toBe(true)
    await page.getByLabel('Type org_acme to confirm').fill('org_acme')
    await remove.click()
    await page.getByText('The organization was deleted').waitFor()
    await expect(host.notifier.organizations.get('org_acme')).rejects.toMatchObject({ code: 'not_found' })
  })

  it('are not found by a key of an organization', async () => {
    const { page, host } = suite
    await page.goto(`${host.url}organizations`)
    await page.getByLabel('API key').fill(await host.key('Full Access'))
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('heading', { level: 1, name: 'This page does not exist' }).waitFor()
  })
})
