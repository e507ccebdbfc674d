import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { createLinkSigner } from '../../src/core/links/link-signer.ts'
import {
  assertAccessible,
  CHROMIUM,
  sharedBrowser,
  type Watched,
  watch,
} from '../support/dashboard/browser.ts'
import { type ExpressHost, startExpressHost } from '../support/express-host.ts'
import { describeWith } from '../support/left-out.ts'
import { emailHash } from '../support/person-hashes.ts'

const ADA = { channel: 'email', to: 'ada@example.com' } as const
const secret = 'the secret of this service, long enough'
const categories = {
  news: { name: 'Newsletter', description: 'Once a month' },
  offers: { name: `Offers ${'from friends of ours '.repeat(4)}`, default: false },
  security: { name: 'Security', required: true },
}
const signer = createLinkSigner([secret])

describeWith(
  CHROMIUM === null ? 'no Chromium on this machine' : null,
  'the preference page in a browser',
  () => {
    let host: ExpressHost
    let origin: string
    let target: readonly string[]
    let token: string
    let watched: Watched

    beforeAll(async () => {
      host = await startExpressHost({ secret, categories, publicUrl: 'https://api.example.org' })
      origin = `http://127.0.0.1:${host.port}`
      const hash = await emailHash(host.storage, ADA.to)
      target = ['org_default', 'email', hash, 'news', 'notif_1', 'user:42']
      token = signer.sign('preferences', JSON.stringify(target))
    })
    afterAll(() => host?.close())
    beforeEach(async () => {
      watched = await watch(await sharedBrowser(), origin, { width: 390 })
    })
    afterEach(async () => {
      await watched.close()
      watched.assertClean()
      for (const who of [ADA, { recipient: 'user:42' }]) await host.notifier.preferences.replace(who, {})
    })

    const open = (query = '') => watched.page.goto(`${origin}/preferences?t=${token}${query}`)
    const cells = async () => (await host.notifier.preferences.get({ recipient: 'user:42' })).categories

    it('is used with the keyboard alone, and keeps what was chosen', async () => {
      const { page, context } = watched
      await open()
      const news = page.getByRole('checkbox', { name: 'Newsletter E-mail' })
      expect(await news.isChecked()).toBe(true)
      await news.focus()
      await page.keyboard.press('Space')
      while (
        !(await page.getByRole('button', { name: 'Save' }).evaluate((button) => button.matches(':focus')))
      )
        await page.keyboard.press('Tab')
      const outline = await page.evaluate('getComputedStyle(document.activeElement).outlineStyle')
      expect(outline).toBe('solid')
      await page.keyboard.press('Enter')
      await page.getByRole('status').waitFor()
      expect(await news.isChecked()).toBe(false)
      expect(await cells()).toEqual({ news: { email: false } })
      await page.reload()
      expect(await news.isChecked()).toBe(false)
      expect(await context.cookies()).toEqual([])
    })

    it('turns everything optional off with one button', async () => {
      const { page } = watched
      await open()
      await page.getByRole('button', { name: 'Unsubscribe from everything optional' }).click()
      await page.getByRole('status').waitFor()
      expect(await page.getByRole('checkbox', { checked: true }).count()).toBe(0)
      const channels = async () => (await host.notifier.preferences.get({ recipient: 'user:42' })).channels
      expect(await channels()).toEqual({ '*': false })
      await assertAccessible(page)
      await page.getByRole('button', { name: 'Undo' }).click()
      await page.getByText('Your settings are as they were before.').waitFor()
      expect(await channels()).toEqual({})
      expect(await page.getByRole('button', { name: 'Undo' }).count()).toBe(0)
    })

    it('is accessible and fits a phone, in each direction of writing', async () => {
      const { page } = watched
      for (const [lang, direction] of [
        ['en', 'ltr'],
        ['ar', 'rtl'],
      ]) {
        await open(`&lang=${lang}&saved=partly`)
        expect(await page.evaluate('getComputedStyle(document.body).direction')).toBe(direction)
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
        await assertAccessible(page)
      }
    })

    it('shows the logo of the organization, and text that can be read on its colour', async () => {
      const { page, strays } = watched
      const logoUrl = 'https://cdn.example.com/logo.svg'
      const logo =
        '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="40"><rect width="40" height="40"/></svg>'
      await page.route(logoUrl, (route) => route.fulfill({ contentType: 'image/svg+xml', body: logo }))
      for (const color of ['#ffd400', '#003080', '#767676']) {
        await host.notifier.organizations.update('org_default', {
          branding: { name: 'Acme', logoUrl, color },
        })
        await open()
        await assertAccessible(page)
        expect(await page.evaluate('document.images[0].naturalWidth')).toBe(40)
        expect(await page.getByRole('banner').textContent()).toBe('Acme')
      }
      await host.notifier.organizations.update('org_default', { branding: null })
      expect([...new Set(strays.splice(0))]).toEqual([logoUrl])
    })

    it('is found from the page of an unsubscription, which is accessible too', async () => {
      const { page } = watched
      await page.goto(`${origin}/unsubscribe?t=${signer.sign('unsubscribe', JSON.stringify(target))}`)
      await assertAccessible(page)
      await page.getByRole('button', { name: 'Unsubscribe' }).click()
      await page.getByRole('heading', { name: 'You are unsubscribed' }).waitFor()
      await page.getByRole('link', { name: 'All notification settings' }).click()
      const news = page.getByRole('checkbox', { name: 'Newsletter E-mail' })
      expect(await news.isChecked()).toBe(false)
    })

    it('undoes an unsubscription, in each language and without scripts', async () => {
      for (const [lang, undo, title] of [
        ['en', 'Undo', 'Undone'],
        ['de', 'Rückgängig machen', 'Rückgängig gemacht'],
        ['fr', 'Annuler le désabonnement', 'Désabonnement annulé'],
        ['es', 'Deshacer', 'Deshecho'],
        ['ar', 'تراجع', 'تم التراجع'],
      ] as const) {
        const { page } = watched
        const link = `${origin}/unsubscribe?t=${signer.sign('unsubscribe', JSON.stringify(target))}&lang=${lang}`
        await page.goto(link)
        await page.getByRole('strong').filter({ hasText: 'Newsletter' }).waitFor()
        await page.getByRole('button').click()
        await assertAccessible(page)
        expect(await cells()).toEqual({ news: { email: false } })
        await page.getByRole('button', { name: undo }).click()
        await page.getByRole('heading', { name: title }).waitFor()
        await assertAccessible(page)
        expect(await page.evaluate('document.documentElement.scrollWidth')).toBeLessThanOrEqual(390)
        expect(await cells()).toEqual({})
      }
    })

    it('is a table with a column for each channel, and on a phone names them in each row', async () => {
      const { page } = watched
      await open()
      const label = page
        .getByRole('row', { name: /Newsletter/ })
        .locator('label span')
        .first()
      expect(await label.isVisible()).toBe(true)
      await page.setViewportSize({ width: 1280, height: 900 })
      expect(await label.isVisible()).toBe(false)
      await page.getByRole('columnheader', { name: 'E-mail' }).waitFor()
      await page.getByRole('row', { name: 'Security Always on: you need these messages.' }).waitFor()
      await assertAccessible(page)
    })

    it('shows the times of quiet hours once a person chooses their own', async () => {
      const { page } = watched
      await open()
      const zone = page.getByLabel('Time zone')
      expect(await zone.isVisible()).toBe(false)
      await page.getByText('My own').click()
      await zone.waitFor()
      await assertAccessible(page)
    })

    it('says that a link does not work', async () => {
      const { page } = watched
      await page.goto(`${origin}/preferences?t=${signer.sign('unsubscribe', JSON.stringify(target))}`)
      await page.getByRole('heading', { name: 'This link does not work' }).waitFor()
      await assertAccessible(page)
    })
  },
)
