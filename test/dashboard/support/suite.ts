import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { describeWith } from '../../support/left-out.ts'
import { CHROMIUM, openBrowser, type Watched, type WatchOptions, watch } from './browser.ts'
import { type DashboardHost, type DashboardHostOptions, startDashboard } from './host.ts'

/** What the tests of a suite share, and the page of the test that runs. */
export interface Suite {
  readonly host: DashboardHost
  readonly browser: Browser
  readonly page: Page
  readonly watched: Watched
}

/** Tests of the dashboard in a real browser, on one server. Each has a page of its own, which must stay clean. */
export function describeDashboard(
  name: string,
  options: DashboardHostOptions & { readonly watch?: WatchOptions },
  tests: (suite: Suite) => void,
): void {
  describeWith(CHROMIUM === null ? 'no Chromium on this machine' : null, name, () => {
    let browser: Browser
    let host: DashboardHost
    let watched: Watched
    beforeAll(async () => {
      host = await startDashboard(options)
      browser = await openBrowser()
    })
    afterAll(async () => {
      await browser?.close()
      await host?.close()
    })
    beforeEach(async () => {
      watched = await watch(browser, host.origin, options.watch)
    })
    afterEach(async () => {
      await watched.close()
      watched.assertClean()
    })
    tests({
      get host() {
        return host
      },
      get browser() {
        return browser
      },
      get page() {
        return watched.page
      },
      get watched() {
        return watched
      },
    })
  })
}
