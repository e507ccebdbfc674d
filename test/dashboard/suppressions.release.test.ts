import { expect, it } from 'vitest'
import type { StoredRecord } from '../../src/core/ports/storage/records.ts'
import { type SuppressionValue, suppressionKind } from '../../src/features/suppressions/records.ts'
import { assertAccessible } from '../support/dashboard/browser.ts'
import { signIn } from '../support/dashboard/sign-in.ts'
import { describeDashboard } from '../support/dashboard/suite.ts'

describeDashboard('the page of suppressions', {}, (suite) => {
  it('suppresses a recipient by hand and removes it again', async () => {
    const { page, host } = suite
    await signIn(page, host, await host.key(), '/suppressions')
    await page.getByText('No suppressed recipients').waitFor()
    await assertAccessible(page)
    await page.getByRole('button', { name: 'Suppress a recipient' }).click()
    await page.getByLabel('Recipient', { exact: true }).fill('nobody')
    await page.getByRole('dialog').getByRole('button', { name: 'Suppress', exact: true }).click()
    await expect
      .poll(() => page.getByLabel('Recipient', { exact: true }).getAttribute('aria-invalid'))
      .toBe('true')
    await page.getByLabel('Recipient', { exact: true }).fill('ada@example.com')
    await page.getByRole('dialog').getByRole('button', { name: 'Suppress', exact: true }).click()
    await page.getByRole('row', { name: /ada@example.com email By hand/ }).waitFor()
    await assertAccessible(page)
    const sent = host.notifier.send({ channel: 'email', to: 'ada@example.com', subject: 'Hi', body: 'Hi' })
    await expect(sent).rejects.toMatchObject({ code: 'blocked_recipient' })
    await page.getByRole('button', { name: 'Remove: ada@example.com' }).click()
    await page.getByRole('dialog').getByRole('button', { name: 'Remove' }).click()
    await page.getByText('The suppression was removed.').waitFor()
    await host.notifier.send({ channel: 'email', to: 'ada@example.com', subject: 'Hi', body: 'Hi' })
  })

  it('finds one by its whole address, and those of one reason, and keeps both in the address', async () => {
    const { page, host } = suite
    const { suppressions } = host.notifier
    for (let index = 0; index < 60; index += 1) {
      await suppressions.add({ channel: 'email', to: `p${index}@example.com`, reason: 'hard_bounce' })
    }
    await suppressions.add({ channel: 'sms', to: '+14155550123', reason: 'stop' })
    await signIn(page, host, await host.key(), '/suppressions')
    await page.getByRole('row', { name: /p59@example.com/ }).waitFor()
    await page.getByLabel('Whole address').fill('P0@EXAMPLE.com')
    await page.getByRole('row', { name: /p0@example.com email Hard bounce/ }).waitFor()
    await expect.poll(() => page.getByRole('row').count()).toBe(2)
    expect(page.url()).toContain('to=P0')
    await page.getByRole('button', { name: 'Clear filters' }).click()
    await page.getByLabel('Reason').selectOption('Replied STOP')
    await page.getByRole('row', { name: /\+14155550123 sms Replied STOP/ }).waitFor()
    await expect.poll(() => page.getByRole('row').count()).toBe(2)
    await assertAccessible(page)
    await page.getByLabel('Whole address').fill('grace@example.com')
    await page.getByText('Nothing matches these filters').waitFor()
    await page.reload()
    expect(await page.getByLabel('Reason').inputValue()).toBe('stop')
    await suppressions.remove({ channel: 'sms', to: '+14155550123' })
  })

  it('shows one without its address, which only code and the REST API can lift', async () => {
    const { page, host } = suite
    const { suppressions } = host.notifier
    await suppressions.add({ channel: 'email', to: 'eve@example.com', reason: 'complaint' })
    const [{ id, revision, value }] = (
      await host.storage.records.list(
        suppressionKind,
        { organizationId: 'org_default' },
        { limit: 1, offset: 0 },
      )
    ).items as [StoredRecord<SuppressionValue>]
    await host.storage.records.write([
      [{ kind: suppressionKind, do: 'replace', id, revision, value: { ...value, address: null } }],
    ])
    await signIn(page, host, await host.key(), '/suppressions')
    const row = page.getByRole('row', { name: /Erased email Spam complaint/ })
    await row.waitFor()
    expect(await row.getByRole('button').count()).toBe(0)
    await assertAccessible(page)
    await suppressions.remove({ channel: 'email', to: 'eve@example.com' })
  })
})
