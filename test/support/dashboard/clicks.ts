import type { Page } from 'playwright-core'

/**
 * Counts the clicks of a person from now on. Choosing from a list takes two, typing and keys none. The answer rejects if
 * the page was loaded anew, as by an address that the person typed.
 */
export async function countClicks(page: Page): Promise<() => Promise<number>> {
  await page.evaluate(`
    window.clicks = 0
    addEventListener('pointerdown', () => { window.clicks += 1 }, true)
    addEventListener('change', ({ target }) => { if (target.matches('select')) window.clicks += 2 }, true)
  `)
  return () => page.evaluate<number>('clicks')
}
