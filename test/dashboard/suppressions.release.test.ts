import { expect, it } from 'vitest'
import { assertAccessible } from '../support/dashboard/browser.ts'
import { signIn } from '../support/dashboard/sign-in.ts'
import { describeDashboard } from '../support/dashboard/suite.ts'

describeDashboard('the page of suppressions', {}, (suite) => {
  it('suppresses a recipient by hand and lifts it again', async () => {
    const { page, host } = suite
    await signIn(page, host, await host.key(), '/suppressions')
    await page.getByText('No suppressed recipients').waitFor()
    await assertAccessible(page)
    await page.getByRole('button', { name: 'Suppress a recipient' }).click()
    await page.getByLabel('Recipient', { exact: true }).fill('nobody')
    await page.getByRole('dialog').getByRole('button', { name: 'Suppress a recipient' }).click()
    await expect
      .poll(() => page.getByLabel('Recipient', { exact: true }).getAttribute('aria-invalid'))
      .toBe('true')
    await page.getByLabel('Recipient', { exact: true }).fill('ada@example.com')
    await page.getByRole('dialog').getByRole('button', { name: 'Suppress a recipient' }).click()
    await page.getByRole('row', { name: /ada@example.com email By hand/ }).waitFor()
    await assertAccessible(page)
    const sent = host.notifier.send({ channel: 'email', to: 'ada@example.com', subject: 'Hi', body: 'Hi' })
    await expect(sent).rejects.toMatchObject({ code: 'blocked_recipient' })
    await page.getByRole('button', { name: 'Lift: ada@example.com' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Lift' }).click()
    await page.getByText('The suppression was lifted.').waitFor()
    await host.notifier.send({ channel: 'email', to: 'ada@example.com', subject: 'Hi', body: 'Hi' })
  })
})
