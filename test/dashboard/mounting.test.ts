import { afterAll, beforeAll, expect, it } from 'vitest'
import { devMailbox } from '../../adapters/dev-mailbox/index.ts'
import { dashboard } from '../../src/dashboard/index.ts'
import { createNotifier, type Notifier, type Served } from '../../src/index.ts'
import { HOSTS, listen, portOf } from '../support/dashboard/mounts.ts'
import { inMemory } from '../support/in-memory.ts'

/* Where pages, assets and data are found. mounting.release.test.ts uses the dashboard in a browser. */

const mailbox = devMailbox()
let notifier: Notifier

beforeAll(async () => {
  notifier = createNotifier({ storage: inMemory(), channels: mailbox.channels }) as Notifier
  await notifier.start()
})
afterAll(() => notifier.stop())

type Mount = (typeof HOSTS)[number][1]

/** Mounts at the root and below a path, and loads pages as a browser does, with the script that they name. */
async function eachMount(
  mount: Mount,
  served: Served,
  page: string,
  use: (url: string) => Promise<void>,
): Promise<void> {
  for (const prefix of ['', '/a/b']) {
    const url = `http://127.0.0.1:${portOf(await listen(await mount(served, prefix)))}${prefix}`
    for (const root of [url, `${url}/`]) {
      // Its script leads to the page below it.
      expect(await (await fetch(root)).text()).toContain("'/start'")
    }
    for (const path of ['/start', page]) {
      const shell = await fetch(url + path)
      const [, script = ''] = /src="([^"]+)"/.exec(await shell.text()) ?? []
      const asset = await fetch(new URL(script, shell.url))
      expect([asset.status, asset.headers.get('content-type')], path).toEqual([
        200,
        'text/javascript; charset=utf-8',
      ])
    }
    await use(url)
  }
}

it.each(HOSTS)('the dashboard has its assets, session and data in %s', async (_name, mount) => {
  const { secret } = await notifier.apiKeys.create({ name: 'Mounted', permission: 'Full Access' })
  await eachMount(mount, dashboard(notifier), '/o/org_default/keys', async (url) => {
    const signedIn = await fetch(`${url}/session`, {
      method: 'POST',
      headers: { 'sec-fetch-site': 'same-origin', 'content-type': 'application/json' },
      body: JSON.stringify({ apiKey: secret }),
    })
    const cookie = signedIn.headers.get('set-cookie')?.split(';')[0] ?? ''
    const keys = await fetch(`${url}/api/v1/api-keys`, { headers: { cookie } })
    expect([signedIn.status, keys.status]).toEqual([200, 200])
    const { items } = (await keys.json()) as { items: readonly { name: string }[] }
    expect(items.map(({ name }) => name)).toContain('Mounted')
  })
})

it.each(HOSTS)('the mailbox has its assets and messages in %s', async (_name, mount) => {
  mailbox.clear()
  const { id } = await notifier.send({ channel: 'email', to: 'ada@example.com', subject: 'Hi', body: 'Hi' })
  await notifier.waitFor(id)
  const [message] = mailbox.messages()
  await eachMount(mount, mailbox, `/messages/${message?.id}`, async (url) => {
    const shown = await fetch(`${url}/api/messages/${message?.id}`)
    expect([shown.status, await shown.json()]).toMatchObject([200, { to: 'ada@example.com' }])
  })
})
