import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { describeWith } from '../left-out.ts'
import { whyNoPostgres } from '../postgres.ts'
import { CHROMIUM, sharedBrowser, type Watched, type WatchOptions, watch } from './browser.ts'
import { type DashboardHost, type DashboardHostOptions, type HostKind, startDashboard } from './host.ts'

/** What the tests of a suite share, and the page of the test that runs. */
export interface Suite {
  readonly host: DashboardHost
  readonly browser: Browser
  readonly page: Page
  readonly watched: Watched
}

interface SuiteOptions extends DashboardHostOptions {
  readonly kinds?: readonly HostKind[]
  readonly watch?: WatchOptions
}

function missing(kind: HostKind): string | null {
  if (CHROMIUM === null) return 'no Chromium on this machine'
  return kind === 'PostgreSQL and Fastify' ? whyNoPostgres() : null
}

/**
 * Tests of the dashboard in a real browser, on a server that they share. Each has a page of its own, which must stay clean.
 *
 * @param options `kinds`: those to run on; the pages know only the REST API, which is the same on each
 */
export function describeDashboard(
  name: string,
  { kinds = ['SQLite and Express'], ...options }: SuiteOptions,
  tests: (suite: Suite) => void,
): void {
  for (const kind of kinds) {
    describeWith(missing(kind), `${name}, on ${kind}`, () => {
      tests(openSuite({ ...options, kind }))
    })
  }
}

function openSuite(options: SuiteOptions): Suite {
  let browser: Browser
  let host: DashboardHost
  let watched: Watched
  beforeAll(async () => {
    host = await startDashboard(options)
    browser = await sharedBrowser()
  })
  afterAll(async () => {
    await host?.close()
  })
  beforeEach(async () => {
    watched = await watch(browser, host.origin, options.watch)
  })
  afterEach(async () => {
    await watched.close()
    watched.assertClean()
  })
  return {
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
  }
}
