import { expect, it } from 'vitest'
import { DEMO_WEBHOOKS, plantDemo } from '../support/dashboard/demo.ts'
import { describeDashboard } from '../support/dashboard/suite.ts'

const HOSTILE = `<img src=x onerror="alert(1)"><script>alert(2)</script>"'`

describeDashboard(
  'hostile content in every stored field',
  { notifier: { webhooks: DEMO_WEBHOOKS } },
  (suite) => {
    it('is text on every page: nothing of it runs, loads or becomes an element', async () => {
      const { page, host } = suite
      const dialogs: string[] = []
      page.on('dialog', (dialog) => {
        dialogs.push(dialog.message())
        void dialog.dismiss()
      })
      const { notification, template, endpoint } = await plantDemo(host.notifier, HOSTILE)
      await page.goto(host.url)
      await page.getByLabel('API key').fill(await host.operatorKey('Full Access', ['content']))
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('heading', { level: 1 }).waitFor()
      const paths = [
        '',
        'organizations',
        'o/org_acme',
        'o/org_acme/notifications',
        `o/org_acme/notifications/${notification}`,
        'o/org_acme/failures',
        'o/org_acme/templates',
        `o/org_acme/templates/${template}`,
        'o/org_acme/keys',
        'o/org_acme/webhooks',
        `o/org_acme/webhooks/${endpoint}`,
        'o/org_acme/suppressions',
        'o/org_acme/quiet-hours',
        `o/org_acme/recipients?recipient=${encodeURIComponent(`user of ${HOSTILE}`)}`,
        'o/org_acme/limits',
        `o/${encodeURIComponent('<img src=x>')}/keys`,
        `${encodeURIComponent('<img src=x>')}?status=${encodeURIComponent('"><img src=x>')}`,
      ]
      for (const path of paths) {
        await page.goto(host.url + path)
        await page.getByRole('heading', { level: 1 }).waitFor()
        await page.waitForTimeout(500)
        expect(await page.locator('img, script:not([nonce])').count(), path).toBe(0)
      }
      expect(dialogs).toEqual([])
    })
  },
)
