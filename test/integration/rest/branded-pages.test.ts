import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { eventually } from '../../support/eventually.ts'
import type { Answer } from '../../support/http-client.ts'
import { type Host, startHost } from '../../support/rest-host.ts'

const YELLOW = '#ffd400'

let host: Host
beforeAll(async () => {
  host = await startHost({ publicUrl: 'https://api.example.org/n' })
  await host.notifier.organizations.create({
    id: 'org_acme',
    name: 'acme-internal',
    branding: { name: 'A&B <Ltd>', logoUrl: 'https://cdn.example.com/a/logo.png?x="1"', color: YELLOW },
  })
  await host.notifier.organizations.create({ id: 'org_plain', name: 'Plain' })
})
afterAll(() => host.close())

/** The pages behind the links of a mail that was sent for the organization. */
async function pagesOf(organization: string): Promise<{ preferences: Answer; unsubscribe: Answer }> {
  const { templates, send } = host.notifier.organization(organization)
  const text = '{{preferencesUrl}} {{unsubscribeUrl}}'
  await templates.create({ name: 'links', channel: 'email', text }).catch(() => null)
  const before = host.sent.length
  await send({ to: 'ada@example.com', template: 'links' })
  const mail = await eventually(async () => host.sent[before])
  const [preferences, unsubscribe] = await Promise.all(
    mail.body.split(' ').map((url) => host.call({ path: url.slice('https://api.example.org/n'.length) })),
  )
  if (preferences === undefined || unsubscribe === undefined) throw new Error('the mail has no links')
  return { preferences, unsubscribe }
}

const policyOf = ({ headers }: Answer): string => String(headers['content-security-policy'])

describe('the pages behind the links of a message', () => {
  it('show the name, the logo and the colour of its organization, and load nothing else', async () => {
    for (const page of Object.values(await pagesOf('org_acme'))) {
      expect(page.status).toBe(200)
      expect(page.text).toContain('<span>A&amp;B &lt;Ltd&gt;</span>')
      expect(page.text).toContain('<img src="https://cdn.example.com/a/logo.png?x&#61;%221%22" alt="">')
      expect(page.text).toContain(`--brand:${YELLOW};--on-brand:#000000`)
      expect(policyOf(page)).toMatch(
        /^default-src 'none'; img-src https:\/\/cdn\.example\.com; style-src 'sha256-[\w+/=]+'; form-action/,
      )
      expect(page.headers['referrer-policy']).toBe('no-referrer')
    }
  })

  it('write white on dark colours, and follow a change at once', async () => {
    await host.notifier.organizations.update('org_acme', { branding: { color: '#003080', logoUrl: null } })
    const { preferences } = await pagesOf('org_acme')
    expect(preferences.text).toContain('--brand:#003080;--on-brand:#ffffff')
    expect(preferences.text).not.toContain('<img')
    expect(policyOf(preferences)).not.toContain('img-src')
  })

  it('show the name of an organization without branding, and none of org_default', async () => {
    expect((await pagesOf('org_plain')).preferences.text).toContain('<span>Plain</span>')
    const { preferences } = await pagesOf('org_default')
    expect(preferences.status).toBe(200)
    expect(preferences.text).not.toContain('<header>')
  })

  it('show no branding for a wrong link', async () => {
    const page = await host.call({ path: '/preferences?t=wrong' })
    expect([page.status, page.text.includes('<header>')]).toEqual([404, false])
  })
})
