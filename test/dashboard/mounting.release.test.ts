import { request as ask, type RequestListener } from 'node:http'
import express from 'express'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { notifierRouter } from '../../adapters/http/express.ts'
import { notifierHandler } from '../../adapters/http/node.ts'
import { dashboard } from '../../src/dashboard/index.ts'
import { createNotifier, type Notifier } from '../../src/index.ts'
import { CHROMIUM, sharedBrowser, watch } from '../support/dashboard/browser.ts'
import { HTTP, listen, portOf } from '../support/dashboard/mounts.ts'
import { inMemory } from '../support/in-memory.ts'
import { describeWith } from '../support/left-out.ts'

/** A proxy that strips `/tools/mail` from every path, and passes the name of the host on. */
function strippingProxy(target: number): RequestListener {
  return (incoming, response) => {
    const path = (incoming.url ?? '').replace(/^\/tools\/mail/, '') || '/'
    const { method, headers } = incoming
    const outgoing = ask({ port: target, host: '127.0.0.1', path, method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers)
      answer.pipe(response)
    })
    incoming.pipe(outgoing)
  }
}

describeWith(CHROMIUM === null ? 'no Chromium on this machine' : null, 'the dashboard, mounted', () => {
  let browser: Browser
  let notifier: Notifier
  let secret: string
  beforeAll(async () => {
    browser = await sharedBrowser()
    notifier = createNotifier({
      storage: inMemory(),
      channels: { email: { name: 'none', send: async () => ({ kind: 'accepted' }) } },
    }) as Notifier
    await notifier.start()
    secret = (await notifier.apiKeys.create({ name: 'Mounted', permission: 'Full Access' })).secret
  })
  afterAll(async () => {
    await notifier.stop()
  })

  /** Opens without the slash at the end, signs in, follows a link, creates a key, loads a deep link anew, signs out. */
  async function use(url: string): Promise<void> {
    const { page, assertClean, close } = await watch(browser, new URL(url).origin)
    await page.goto(url)
    await page.getByLabel('API key').fill(secret)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.getByRole('link', { name: 'API keys' }).click()
    await page.getByRole('row', { name: /Mounted/ }).waitFor()
    await page.getByRole('button', { name: 'Create API key' }).click()
    const name = `Key ${Math.random()}`
    await page.getByLabel('Name').fill(name)
    await page.getByRole('button', { name: 'Create', exact: true }).click()
    await page.getByRole('button', { name: 'Done' }).click()
    expect(page.url()).toBe(`${url.replace(/\/$/, '')}/o/org_default/keys`)
    await page.reload()
    await page.getByRole('row', { name: new RegExp(name) }).waitFor()
    await page.getByRole('button', { name: 'Sign out' }).click()
    await page.getByLabel('API key').waitFor()
    await page.reload()
    await page.getByLabel('API key').waitFor()
    assertClean()
    await close()
  }

  it('works below a path', async () => {
    const app = express().use('/a/b', notifierRouter(dashboard(notifier), HTTP))
    await use(`http://127.0.0.1:${portOf(await listen(app))}/a/b`)
  })

  it('works at the root, and behind a proxy that strips a path', async () => {
    const server = await listen(notifierHandler(dashboard(notifier), HTTP))
    await use(`http://127.0.0.1:${portOf(server)}`)
    const proxy = await listen(strippingProxy(portOf(server)))
    await use(`http://127.0.0.1:${portOf(proxy)}/tools/mail`)
  })
})
