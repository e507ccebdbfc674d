// Takes the screenshots of README and docs: node scripts/dashboard-screenshots.mts [folder]
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Clock, Notifier } from 'carillon'
import type { Outcome } from 'carillon/provider-kit'
import { sqlite } from '../adapters/storage/sqlite/index.ts'
import { systemClock } from '../src/core/loop/system-clock.ts'
import { sharedBrowser, watch } from '../test/support/dashboard/browser.ts'
import { DEMO_WEBHOOKS, plantDemo } from '../test/support/dashboard/demo.ts'
import { startDashboard } from '../test/support/dashboard/host.ts'
import { fromRoot } from './entries.mjs'

const folder = process.argv[2] ?? fromRoot('docs/images')
mkdirSync(folder, { recursive: true })

const HOUR_MS = 3_600_000
const system = systemClock()
/** The first message was sent a day ago. */
let behind = 24 * HOUR_MS

const clock: Clock = { ...system, now: () => system.now() - behind }

const host = await startDashboard({
  notifier: {
    webhooks: DEMO_WEBHOOKS,
    clock,
    storage: sqlite({ file: ':memory:', clock }),
    channels: {
      email: { name: 'ses', send: async ({ to }) => resultFor(to) },
      sms: { name: 'twilio', send: async ({ to }) => resultFor(to) },
    },
  },
})
const browser = await sharedBrowser()
try {
  const { notification, template, endpoint } = await plantDemo(host.notifier)
  await plantDay(host.notifier)
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

function resultFor(to: string): Outcome {
  if (to.startsWith('bounce')) return { kind: 'rejected', code: 'recipient_unreachable', scope: 'recipient' }
  if (to.startsWith('full')) return { kind: 'rejected', code: 'mailbox_full', scope: 'recipient' }
  return { kind: 'accepted' }
}

/** What a shop sends in a day: little at night, and few failures. */
async function plantDay(notifier: Notifier): Promise<void> {
  const acme = notifier.organization('org_acme')
  let settled = 0
  for (const type of ['notification.sent', 'notification.failed'] as const)
    notifier.on(type, () => {
      settled += 1
    })
  for (let hour = 0; hour < 24; hour += 1) {
    behind = (23 - hour) * HOUR_MS
    const busy = 1 - Math.cos(((new Date(system.now() - behind).getHours() - 3) / 12) * Math.PI)
    const count = 20 + Math.round(40 * busy) + ((hour * 7) % 11)
    const before = settled
    await acme.sendBatch(
      Array.from({ length: count }, (_, index) => {
        const name = `${index % 29 === 7 ? 'full' : index % 41 === 3 ? 'bounce' : 'customer'}-${hour}-${index}`
        return index % 5 === 0
          ? {
              channel: 'sms',
              to: `+43664${1_000_000 + hour * 1_000 + index}`,
              template: 'code',
              variables: { code: 4711 },
            }
          : { channel: 'email', to: `${name}@example.com`, template: 'welcome', variables: { name } }
      }),
    )
    while (settled < before + count) await sleep(5)
  }
}
