import { expect, it } from 'vitest'
import { assertAccessible } from '../support/dashboard/browser.ts'
import { signIn } from '../support/dashboard/sign-in.ts'
import { describeDashboard } from '../support/dashboard/suite.ts'

const accepted = { kind: 'accepted', providerMessageId: 'm1' } as const

describeDashboard(
  'the page of categories',
  {
    notifier: {
      channels: {
        email: { name: 'mail', send: async () => accepted },
        sms: { name: 'text', send: async () => accepted },
      },
      categories: { receipts: { name: 'Receipts', required: true } },
    },
  },
  (suite) => {
    it('creates, changes and deletes a category, and leaves those in code alone', async () => {
      const { page, host } = suite
      const { categories } = host.notifier
      await signIn(page, host, await host.key(), '/categories')
      const receipts = page.getByRole('table', { name: 'Categories' }).getByRole('row', { name: /^Receipts/ })
      await receipts.getByText('Set in code').waitFor()
      expect(await receipts.getByRole('button').count()).toBe(0)
      await page.getByRole('button', { name: 'New category' }).click()
      const dialog = page.getByRole('dialog')
      await dialog.getByLabel('ID', { exact: true }).fill('receipts')
      await dialog.getByLabel('Name').fill('News')
      await dialog.getByLabel('Sender').fill('News <news@example.com>')
      await dialog.getByRole('checkbox', { name: 'sms' }).uncheck()
      await assertAccessible(page)
      await dialog.getByRole('button', { name: 'Create' }).click()
      await dialog.getByText('A category has the id').waitFor()
      await dialog.getByLabel('ID', { exact: true }).fill('news')
      await dialog.getByRole('button', { name: 'Create' }).click()
      const row = page.getByRole('table', { name: 'Categories' }).getByRole('row', { name: /^News/ })
      await row.getByText('On, except sms').waitFor()
      await row.getByText('News <news@example.com>').waitFor()
      expect(await categories.get('news')).toMatchObject({
        required: false,
        default: { '*': true, email: true, sms: false },
        from: 'News <news@example.com>',
      })

      await row.getByRole('button', { name: 'Edit' }).click()
      await dialog.getByLabel('Name').fill('Newsletter')
      await dialog.getByLabel('Sender').fill('')
      await dialog.getByRole('checkbox', { name: 'Required' }).check()
      await dialog.getByRole('button', { name: 'Save' }).click()
      await dialog.waitFor({ state: 'detached' })
      expect(await categories.get('news')).toMatchObject({
        name: 'Newsletter',
        required: true,
        default: { '*': true },
        from: null,
      })
      await row.getByRole('button', { name: 'Delete' }).click()
      await dialog.getByRole('button', { name: 'Delete' }).click()
      await row.waitFor({ state: 'detached' })
    })

    it('shows what another operator has saved meanwhile, and saves onto it', async () => {
      const { page, host } = suite
      const { categories } = host.notifier
      await categories.create({ id: 'offers', name: 'Offers', description: 'Once a week' })
      await signIn(page, host, await host.key(), '/categories')
      const row = page.getByRole('table', { name: 'Categories' }).getByRole('row', { name: /^(Offers|Mine)/ })
      const dialog = page.getByRole('dialog')
      await row.getByRole('button', { name: 'Edit' }).click()
      await dialog.getByLabel('Name').fill('Mine')
      await dialog.getByRole('checkbox', { name: 'sms' }).uncheck()
      await categories.update('offers', { name: 'Theirs', description: null })
      await dialog.getByRole('button', { name: 'Save' }).click()
      await dialog.getByText('Version 2 was saved while you were editing').waitFor()
      await dialog.getByRole('region', { name: 'Name' }).getByText('- Theirs').waitFor()
      await dialog.getByRole('region', { name: 'Default' }).getByText('- sms').waitFor()
      expect(await dialog.getByRole('region').count()).toBe(2)
      await assertAccessible(page)
      await dialog.getByRole('button', { name: 'Save mine as a new version' }).click()
      await dialog.waitFor({ state: 'detached' })
      expect(await categories.get('offers')).toMatchObject({
        name: 'Mine',
        description: null,
        default: { '*': true, email: true, sms: false },
        version: 3,
      })
      await row.getByRole('button', { name: 'Edit' }).click()
      await dialog.getByLabel('Name').fill('Lost')
      await categories.update('offers', { name: 'Kept' })
      await dialog.getByRole('button', { name: 'Save' }).click()
      await dialog.getByRole('button', { name: 'discard mine' }).click()
      expect(await dialog.getByLabel('Name').inputValue()).toBe('Kept')
    })

    it('shows and changes what the organization prefers', async () => {
      const { page, host } = suite
      const { categories, preferences } = host.notifier
      await categories.create({ id: 'tips', name: 'Tips' })
      await preferences.change({ organization: true }, { categories: { tips: false } })
      await signIn(page, host, await host.key(), '/categories')
      const all = page.getByRole('combobox', { name: 'Tips, All channels' })
      await expect.poll(() => all.inputValue()).toBe('off')
      // Required ones cannot be turned off.
      expect(await page.getByRole('combobox', { name: /^Receipts/ }).count()).toBe(0)
      await assertAccessible(page)
      await page.getByRole('combobox', { name: 'Tips, email' }).selectOption('On')
      await page.getByText('The preference was saved.').waitFor()
      await page.getByRole('combobox', { name: 'All categories, sms' }).selectOption('Off')
      await all.selectOption('Undecided')
      await expect
        .poll(() => preferences.get({ organization: true }))
        .toMatchObject({ channels: { sms: false }, categories: { tips: { email: true } } })
    })

    it('is read with a key that may not change it', async () => {
      const { page, host } = suite
      await signIn(page, host, await host.key('Write'), '/categories')
      await page
        .getByRole('row', { name: /^Receipts/ })
        .first()
        .waitFor()
      expect(await page.getByRole('button', { name: 'New category' }).count()).toBe(0)
      expect(await page.getByRole('main').getByRole('combobox').count()).toBe(0)
    })
  },
)
