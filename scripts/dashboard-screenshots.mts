// Takes the screenshots of README and docs: node scripts/dashboard-screenshots.mts [folder]
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { sharedBrowser, watch } from '../test/support/dashboard/browser.ts'
import { DEMO_WEBHOOKS, plantDemo } from '../test/support/dashboard/demo.ts'
import { startDashboard } from '../test/support/dashboard/host.ts'
import { fromRoot } from './entries.mjs'

const folder = process.argv[2] ?? fromRoot('docs/images')
mkdirSync(folder, { recursive: true })

const host = await startDashboard({ notifier: { webhooks: DEMO_WEBHOOKS } })
const browser = await sharedBrowser()
try {
  const { notification, template, endpoint } = await plantDemo(host.notifier)
  const pages = {
    overview: '',
    notifications: '/notifications',
    notification: `/notifications/${notification}`,
    failures: '/failures',
    templates: '/templates',
    template: `/templates/${template}`,
    keys: '/keys',
    webhooks: '/webhooks',
    webhook: `/webhooks/${endpoint}`,
    suppressions: '/suppressions',
    recipient: '/recipients?recipient=user%20of%20Acme',
    'quiet-hours': '/quiet-hours',
    limits: '/limits',
  }
  const secret = await host.operatorKey('Full Access', ['content'])
  for (const scheme of ['light', 'dark'] as const) {
    for (const width of [1280, 390]) {
      const { page, close } = await watch(browser, host.origin, { width, scheme })
      const shoot = async (name: string): Promise<void> => {
        // Frames and chunks of code load after the page.
        await page.waitForTimeout(1_500)
        await page.screenshot({ path: join(folder, `${name}-${scheme}-${width}.png`) })
      }
      await page.goto(host.url)
      await page.getByLabel('API key').fill(secret)
      await shoot('sign-in')
      await page.getByRole('button', { name: 'Sign in' }).click()
      await page.getByRole('heading', { level: 1 }).waitFor()
      await shoot('operations')
      await page.goto(`${host.url}organizations`)
      await shoot('organizations')
      for (const [name, path] of Object.entries(pages)) {
        await page.goto(`${host.url}o/org_acme${path}`)
        await shoot(name)
      }
      await close()
    }
  }
} finally {
  await browser.close()
  await host.close()
}
