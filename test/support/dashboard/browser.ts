import { accessSync } from 'node:fs'
import { AxeBuilder } from '@axe-core/playwright'
import { type Browser, type BrowserContext, chromium, type Page } from 'playwright-core'
import { expect } from 'vitest'
import { WAIT_MS } from '../patience.ts'

/** The first has no windows, and takes half the processor time. */
const PLACES = [
  '/usr/bin/chromium-headless-shell',
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
]

/** The Chromium of this machine; null: there is none. */
export const CHROMIUM: string | null = PLACES.find(exists) ?? null

function exists(path: string): boolean {
  try {
    accessSync(path)
    return true
  } catch {
    return false
  }
}

let shared: Promise<Browser> | undefined

/** The browser of all files of this process, with which it ends. */
export async function sharedBrowser(): Promise<Browser> {
  if (CHROMIUM === null) throw new Error('There is no Chromium on this machine.')
  shared ??= chromium.launch({
    executablePath: CHROMIUM,
    args: ['--no-sandbox', '--disable-dev-shm-usage'],
  })
  return shared
}

/** A page, and everything that it should not have done. */
export interface Watched {
  readonly page: Page
  readonly context: BrowserContext
  /** Violations of policies, errors of scripts, failed assertions of the console. */
  readonly faults: string[]
  /** Requests to another origin than the server's. */
  readonly strays: string[]
  /** Fails if there is any. Called at the end of each test. */
  assertClean(): void
  close(): Promise<void>
}

export interface WatchOptions {
  readonly width?: number
  readonly scheme?: 'light' | 'dark'
  /** Of the browser. Default `en-GB`. */
  readonly locale?: string
}

/** Opens a page whose every fault is noticed. */
export async function watch(
  browser: Browser,
  origin: string,
  { width = 1280, scheme = 'light', locale = 'en-GB' }: WatchOptions = {},
): Promise<Watched> {
  const context = await browser.newContext({
    viewport: { width, height: 900 },
    colorScheme: scheme,
    locale,
    timezoneId: 'Europe/Vienna',
    reducedMotion: 'reduce',
  })
  const page = await context.newPage()
  page.setDefaultTimeout(WAIT_MS)
  const faults: string[] = []
  const strays: string[] = []
  page.on('pageerror', (error) => faults.push(String(error)))
  page.on('console', (message) => {
    if (message.type() !== 'error') return
    // Answers such as 401 and 409 are part of the dashboard's work, and blocking is that of a preview's sandbox.
    if (message.text().startsWith('Failed to load resource')) return
    if (/\/preview(?:\?[^']*)?' because|^Loading the image .*"img-src data:"/.test(message.text())) return
    faults.push(message.text())
  })
  page.on('request', (request) => {
    const url = new URL(request.url())
    if (!['data:', 'blob:', 'about:'].includes(url.protocol) && url.origin !== origin) strays.push(url.href)
  })
  page.on('requestfailed', (request) => {
    // Blocked by a policy: it never left the browser.
    if (request.failure()?.errorText === 'csp') strays.splice(strays.indexOf(request.url()), 1)
  })
  return {
    page,
    context,
    faults,
    strays,
    assertClean() {
      expect(faults).toEqual([])
      expect(strays).toEqual([])
    },
    close: () => context.close(),
  }
}

/** Fails if anything is wider than its place, so that a reader would have to scroll sideways. */
export async function assertFits(page: Page): Promise<void> {
  const wide = await page.evaluate(
    `[...document.querySelectorAll('html, dialog, .table-frame')]
      .filter(({ scrollWidth, clientWidth }) => scrollWidth > clientWidth)
      .map(({ tagName, className }) => tagName + ' ' + className)`,
  )
  expect(wide).toEqual([])
}

/** Fails on anything that axe finds; in the dark nothing but colors is different. */
export async function assertAccessible(page: Page): Promise<void> {
  for (const colorScheme of ['light', 'dark'] as const) {
    await page.emulateMedia({ colorScheme })
    // A sandboxed frame runs no scripts, axe's neither.
    // In its newer mode axe opens another page for each analysis.
    const axe = new AxeBuilder({ page }).exclude('iframe[sandbox]').setLegacyMode()
    const { violations } = await (colorScheme === 'light' ? axe : axe.withRules('color-contrast')).analyze()
    const found = violations.map(
      ({ id, nodes }) => `${colorScheme}: ${id}: ${nodes.map((n) => n.html).join(' | ')}`,
    )
    expect(found).toEqual([])
  }
}
