import type { Page } from 'playwright-core'
import type { DashboardHost } from './host.ts'

/** Signs in with a key as a person does, then opens a page of the organization. */
export async function signIn(
  page: Page,
  host: DashboardHost,
  secret: string,
  path = '/',
  organization = 'org_default',
): Promise<void> {
  await page.goto(`${host.url}o/${organization}${path}`)
  await page.getByLabel('API key').fill(secret)
  await page.getByRole('button', { name: 'Sign in' }).click()
  // On a phone the menu is closed, and so has no role.
  await page.locator('nav').first().waitFor({ state: 'attached' })
}
