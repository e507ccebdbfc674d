import { expect, it } from 'vitest'
import { assertAccessible } from '../support/dashboard/browser.ts'
import { describeDashboard } from '../support/dashboard/suite.ts'

describeDashboard(
  'the page of operations',
  {
    notifier: {
      channels: {
        email: {
          name: 'down',
          send: async () => ({
            kind: 'retry',
            code: 'provider_unavailable',
            scope: 'provider',
            retryAfterMs: 600_000,
          }),
        },
      },
    },
  },
  (suite) => {
    it('shows the health, a provider that is paused and why, and what waits for it', async () => {
      const { page, host } = suite
      await host.notifier.send({ channel: 'email', to: 'ada@example.com', subject: 'Hi', body: 'Hi' })
      await expect.poll(async () => (await host.notifier.health()).status).toBe('degraded')
      await page.goto(host.url)
      await page.getByLabel('API key').fill(await host.operatorKey())
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('heading', { level: 1, name: 'Operations' }).waitFor()
      await page.getByText('Degraded', { exact: true }).waitFor()
      await page.getByRole('row', { name: /down email All Paused provider_unavailable/ }).waitFor()
      await page.getByRole('row', { name: /^email/ }).waitFor()
      await assertAccessible(page)
      await page.goto(`${host.url}o/org_default`)
      await page.getByRole('row', { name: /down email 0% 1 Paused until .* provider_unavailable/ }).waitFor()
    })
  },
)
