import { expect, it } from 'vitest'
import { assertAccessible } from '../support/dashboard/browser.ts'
import { signIn } from '../support/dashboard/sign-in.ts'
import { describeDashboard } from '../support/dashboard/suite.ts'

const MANY = 450

describeDashboard('the page of failures', {}, (suite) => {
  const failed = async () =>
    (await suite.host.notifier.deadLetters.retry({ filter: {}, dryRun: true, most: 10_000 })).retried

  it('groups failures, leads to their notifications, and offers readers no retry', async () => {
    const { page, host } = suite
    await signIn(page, host, await host.key('Read Only'), '/failures')
    await page.getByRole('heading', { name: 'No failures' }).waitFor()
    const notifications = Array.from({ length: MANY }, (_, n) => ({
      channel: 'email',
      to: `bounce${n}@example.com`,
      subject: 'Hi',
      body: 'Hi',
    }))
    await host.notifier.sendBatch(notifications)
    await expect.poll(failed, { timeout: 30_000 }).toBe(MANY)
    const row = page.getByRole('row', { name: new RegExp(`provider_error .* email recorder ${MANY}`) })
    await row.waitFor()
    expect(await page.getByRole('main').getByRole('button').count()).toBe(0)
    await assertAccessible(page)
    await page.getByLabel('Accepted before').fill('2020-01-01T00:00')
    await page.getByText('Nothing matches these filters').waitFor()
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await row.getByRole('link', { name: 'provider_error' }).click()
    await page
      .getByRole('row', { name: /bounce\d+@example.com Failed provider_error/ })
      .first()
      .waitFor()
    expect(page.url()).toContain('status=failed&channel=email&code=provider_error&provider=recorder')
    await page.goBack()
    await row.waitFor()
  })

  it('retries many after a count of the server, until it is stopped, and the others later', async () => {
    const { page, host } = suite
    await signIn(page, host, await host.key(), '/failures')
    const retry = page.getByRole('button', { name: 'Retry: provider_error' })
    const dialog = page.getByRole('dialog')
    await retry.click()
    await dialog.getByText(`${MANY} notifications will be delivered again.`).waitFor()
    await assertAccessible(page)
    expect(await failed()).toBe(MANY)
    let answered = (): void => {}
    const held = new Promise<void>((resolve) => {
      answered = resolve
    })
    await page.route('**/v1/dead-letters/retry', async (route) => {
      const response = await route.fetch()
      await held
      await route.fulfill({ response })
    })
    const before = host.sent.length
    await dialog.getByRole('button', { name: `Retry ${MANY}` }).click()
    await dialog.getByText(`0 of ${MANY} are being delivered again.`).waitFor()
    expect(await dialog.getByRole('button', { name: 'Close' }).count()).toBe(0)
    await dialog.getByRole('button', { name: 'Stop' }).click()
    answered()
    await dialog.getByText('Stopped. 200 are being delivered again').waitFor()
    await expect.poll(() => host.sent.length, { timeout: 30_000 }).toBe(before + 200)
    await assertAccessible(page)
    await page.unroute('**/v1/dead-letters/retry')
    await dialog.getByRole('button', { name: 'Close' }).last().click()
    await expect.poll(failed, { timeout: 30_000 }).toBe(MANY)
    await retry.click()
    await dialog.getByRole('button', { name: `Retry ${MANY}` }).click()
    await dialog.getByText(`${MANY} of ${MANY} are being delivered again.`).waitFor()
    await expect.poll(() => host.sent.length, { timeout: 30_000 }).toBe(before + 200 + MANY)
  })

  it('says what went wrong, and counts again', async () => {
    const { page, host } = suite
    await signIn(page, host, await host.key(), '/failures')
    await page.route('**/v1/dead-letters/retry', (route) => route.abort())
    await page.getByRole('button', { name: 'Retry: provider_error' }).click()
    await page.getByText('The server cannot be reached.').waitFor()
    await page.unroute('**/v1/dead-letters/retry')
    await page.getByRole('dialog').getByRole('button', { name: 'Try again' }).click()
    await page.getByText('will be delivered again.').waitFor()
  })
})
