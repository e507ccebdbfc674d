import type { Browser, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, beforeEach } from 'vitest'
import { describeWith } from '../../support/left-out.ts'
import { stopSharedPostgres, whyNoPostgres } from '../../support/postgres.ts'
import { CHROMIUM, openBrowser, type Watched, type WatchOptions, watch } from './browser.ts'
import { type DashboardHost, type DashboardHostOptions, type HostKind, startDashboard } from './host.ts'

/** What the tests of a suite share, and the page of the test that runs. */
export interface Suite {
  readonly host: DashboardHost
  readonly browser: Browser
  readonly page: Page
  readonly watched: Watched
}

const KINDS = ['SQLite and Express', 'PostgreSQL and Fastify'] as const

function missing(kind: HostKind): string | null {
  if (CHROMIUM === null) return 'no Chromium on this machine'
  return kind === 'PostgreSQL and Fastify' ? whyNoPostgres() : null
}

/**
 * Tests of the dashboard in a real browser, on a server of each kind that they share. Each has a page of its own, which must
 * stay clean.
 */
export function describeDashboard(
  name: string,
  options: DashboardHostOptions & { readonly watch?: WatchOptions },
  tests: (suite: Suite) => void,
): void {
  for (const kind of options.kind === undefined ? KINDS : [options.kind]) {
    describeWith(missing(kind), `${name}, on ${kind}`, () => {
      tests(openSuite({ ...options, kind }))
    })
  }
  afterAll(stopSharedPostgres)
}

function openSuite(options: DashboardHostOptions & { readonly watch?: WatchOptions }): Suite {
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
