import { expect, it } from 'vitest'
import { assertAccessible } from '../support/dashboard/browser.ts'
import { HOST_KINDS } from '../support/dashboard/host.ts'
import { signIn } from '../support/dashboard/sign-in.ts'
import { describeDashboard } from '../support/dashboard/suite.ts'

describeDashboard('the overview of an organization', { kinds: HOST_KINDS }, (suite) => {
  it('leads a newcomer to the first test message', async () => {
    const { page, host } = suite
    await signIn(page, host, await host.key('Write'), '/')
    await page.getByRole('heading', { name: 'Nothing was sent in the last 24 hours' }).waitFor()
    await assertAccessible(page)
    await page.getByRole('link', { name: 'Send a test message' }).click()
    await page.getByRole('dialog').getByLabel('Recipient').fill('ada@example.com')
    await page.getByRole('button', { name: 'Send now' }).click()
    await page.getByRole('heading', { name: 'The provider has accepted it.' }).waitFor()
    expect(host.sent).toHaveLength(1)
  })

  it('shows what waits, what was sent and what failed, and leads to the lists behind it', async () => {
    const { page, host } = suite
    const { notifier } = host
    const send = (to: string, more = {}) =>
      notifier.send({ channel: 'email', to, subject: 'Hi', body: 'Hi', ...more })
    await send('bounce@example.com')
    await send('later@example.com', { sendAt: new Date(Date.now() + 86_400_000) })
    await signIn(page, host, await host.key('Read Only'), '/')
    await page.getByRole('img', { name: 'In the last 24 hours 1 were sent and 1 failed.' }).waitFor()
    await page.getByRole('link', { name: 'Scheduled 1' }).waitFor()
    await page.getByRole('link', { name: /^Success rate 50%/ }).waitFor()
    await page.getByRole('row', { name: /recorder email 50% 2 (Failing since|Working)/ }).waitFor()
    await page.getByText('Show as a table').click()
    const hours = page.getByRole('table', { name: /In the last 24 hours/ })
    expect(await hours.getByRole('row').count()).toBe(25)
    await hours.getByRole('row', { name: / 1 1$/ }).waitFor()
    await assertAccessible(page)
    await page.getByRole('link', { name: 'provider_error' }).click()
    await page.getByRole('row', { name: /bounce@example.com/ }).waitFor()
    await page.goBack()
    await page.getByRole('link', { name: /^Failed 1/ }).click()
    await page.getByRole('heading', { level: 1, name: 'Failures' }).waitFor()
    await page.getByRole('row', { name: /provider_error/ }).waitFor()
    await page.goBack()
    await page.getByRole('link', { name: 'Scheduled 1' }).click()
    await page.getByRole('row', { name: /later@example.com/ }).waitFor()
    expect(page.url()).toContain('status=scheduled')
  })

  it('shows an hour, a day or a week, whose bars lead to their messages', async () => {
    const { page, host } = suite
    await host.notifier.send({ channel: 'email', to: 'bar@example.com', subject: 'Hi', body: 'Hi' })
    await signIn(page, host, await host.key('Read Only'), '/')
    await page.getByRole('img', { name: /In the last 24 hours/ }).waitFor()
    for (const [choice, span, rows] of [
      ['7 days', 'the last 7 days', 29],
      ['1 hour', 'the last hour', 13],
    ] as const) {
      await page.getByText(choice, { exact: true }).click()
      await page.getByRole('heading', { name: `Sent and failed in ${span}` }).waitFor()
      await page.getByText('Show as a table').click()
      expect(
        await page
          .getByRole('table', { name: /In the last/ })
          .getByRole('row')
          .count(),
      ).toBe(rows)
      await assertAccessible(page)
    }
    expect(page.url()).toContain('period=1h')
    await page
      .getByRole('table', { name: /In the last/ })
      .getByRole('link')
      .last()
      .click()
    await page.getByRole('row', { name: /bar@example.com/ }).waitFor()
    expect(page.url()).toMatch(/from=.*until=/)
    await page.goBack()
    await page.getByRole('heading', { name: 'Sent and failed in the last hour' }).waitFor()
    const ground = page.locator('.chart .leads').last()
    await ground.click()
    await page.getByRole('row', { name: /bar@example.com/ }).waitFor()
    expect(page.url()).toMatch(/from=.*until=/)
  })

  it('names the provider that fails, its last words, and since when', async () => {
    const { page, host } = suite
    const { id } = await host.notifier.send({
      channel: 'email',
      to: 'bounce@x.example',
      subject: 'Hi',
      body: 'Hi',
    })
    await host.notifier.waitFor(id)
    await signIn(page, host, await host.key('Read Only'), '/')
    const row = page.getByRole('table', { name: 'Providers' }).getByRole('row', { name: /recorder/ })
    await row.getByText('Failing', { exact: true }).waitFor()
    await row.getByText('since').waitFor()
    await row.getByText('provider_error').waitFor()
    await assertAccessible(page)
    await row.getByRole('link', { name: 'recorder' }).click()
    await page.getByRole('row', { name: /bounce@x.example/ }).waitFor()
    expect(page.url()).toContain('provider=recorder')
  })

  it('marks numbers that are minimums', async () => {
    const { page, host } = suite
    await page.route('**/v1/statistics?*', async (route) => {
      const response = await route.fetch()
      const { spans, failures, ...rest } = await response.json()
      const json = {
        ...rest,
        spans: spans.map((span: object) => ({ ...span, failed: 200, exact: false })),
        failures: {
          groups: [{ code: 'mailbox_full', provider: null, channel: 'email', count: 9_990 }],
          total: 10_000,
          exact: false,
        },
      }
      await route.fulfill({ response, json })
    })
    await signIn(page, host, await host.key('Read Only'), '/')
    await page.getByRole('link', { name: /^Failed 10,000\+/ }).waitFor()
    await page.getByRole('row', { name: 'mailbox_full email 9,990+' }).waitFor()
    await page.getByText('A number with + is a minimum').waitFor()
    await page.getByText('Show as a table').click()
    expect(await page.getByRole('row', { name: / \d\+ 200\+$/ }).count()).toBe(24)
  })
})
