import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { notifierHandler } from '../../../adapters/http/node.ts'
import { carillon, spawnCarillon, typeAtTerminal, writeConfig } from '../../support/command-line.ts'
import { listen } from '../../support/parity/harness.ts'
import { startNotifier } from '../../support/rest-host.ts'
import { serve } from '../../support/serve.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const EMAIL = "{ email: { name: 'own', maxConcurrent: 1, send } }"
const TEXTS = {
  'welcome.email.html':
    '---\nsubject: Welcome, {{name}}\nlayout: brand\n---\n<p>Hello {{name}}</p>\n<p>Bye</p>\n',
  'welcome.email.txt': 'Hello {{name}}\n',
  'layouts/brand.html': '<main>{{{content}}}</main>{{> footer}}',
  'layouts/brand.txt': '{{content}}{{> footer}}',
  'partials/footer.html': '<p>Acme</p>',
  'partials/footer.txt': 'Acme',
  'messages/de.json': '{\n  "hello": "Hallo"\n}\n',
}

function writeTexts(folder: string, texts: Readonly<Record<string, string>>): void {
  for (const below of ['layouts', 'partials', 'messages']) mkdirSync(join(folder, below), { recursive: true })
  for (const [name, text] of Object.entries(texts)) writeFileSync(join(folder, name), text)
}

function readTexts(folder: string): Record<string, string> {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true }).filter((entry) =>
    entry.isFile(),
  )
  return Object.fromEntries(
    files.map(({ parentPath, name }) => {
      const path = join(parentPath, name)
      return [path.slice(folder.length + 1), readFileSync(path, 'utf8')]
    }),
  )
}

/** A folder with a configuration, and texts in its folder `templates`. */
function project(texts: Readonly<Record<string, string>> = TEXTS) {
  const cwd = temporaryDirectory(onTestFinished)
  writeConfig(cwd, { name: 'carillon.config.mjs', channels: EMAIL })
  const folder = join(cwd, 'templates')
  writeTexts(folder, texts)
  const templates = (...argv: readonly string[]) => carillon(['templates', ...argv], { cwd })
  return { cwd, folder, templates }
}

test('texts go from files into the storage and back, in processes', async () => {
  const { cwd, folder } = project()
  const templates = (...argv: readonly string[]) => spawnCarillon(['templates', ...argv], { cwd }).outcome
  const unasked = await templates('push')
  expect(unasked).toMatchObject({ code: 2, err: expect.stringContaining('Store 4 texts?') })
  expect(unasked.out).toContain('+++ b/partials/footer.html\n')
  expect(await templates('pull', 'empty')).toMatchObject({ code: 0, out: '' })
  const { code, out } = await templates('push', '--yes', '--json')
  expect(code).toBe(0)
  const lines = out.trim().split('\n')
  expect(lines.map((line) => JSON.parse(line)).map(({ kind, name, action }) => [kind, name, action])).toEqual(
    [
      ['partial', 'footer', 'create'],
      ['layout', 'brand', 'create'],
      ['messages', 'de', 'create'],
      ['template', 'welcome', 'create'],
    ],
  )
  expect(await templates('diff')).toMatchObject({ code: 0, out: '' })
  expect(await templates('push')).toMatchObject({ code: 0, err: expect.stringContaining('Nothing differs') })
  expect(await templates('pull', 'copy')).toMatchObject({ code: 0 })
  expect(readTexts(join(cwd, 'copy'))).toEqual(readTexts(folder))
})

test('diff is a unified diff from what is stored to the files, and ends with 1', async () => {
  const { folder, templates } = project()
  await templates('push', '--yes')
  writeTexts(folder, {
    'welcome.email.html': (TEXTS['welcome.email.html'] ?? '').replace('<p>Bye</p>', '<p>See you</p>'),
    'partials/footer.txt': 'Acme Ltd.\n',
    'new.email.txt': 'New',
  })
  const { code, out } = await templates('diff')
  expect(code).toBe(1)
  expect(out).toBe(`--- a/partials/footer.txt
+++ b/partials/footer.txt
@@ -1,1 +1,1 @@
-Acme
\\ No newline at end of file
+Acme Ltd.
--- /dev/null
+++ b/new.email.txt
@@ -0,0 +1,1 @@
+New
\\ No newline at end of file
--- a/welcome.email.html
+++ b/welcome.email.html
@@ -3,4 +3,4 @@
 layout: brand
 ---
 <p>Hello {{name}}</p>
-<p>Bye</p>
+<p>See you</p>
`)
  expect((await templates('diff', '--json')).out).toContain(
    '{"kind":"template","name":"new","action":"create"',
  )
})

test('a pull keeps files that differ until it may replace them', async () => {
  const { cwd, folder, templates } = project()
  await templates('push', '--yes')
  const own = { 'welcome.email.txt': 'My own words\n', 'other.email.txt': 'Other' }
  writeTexts(folder, own)
  const asked = await templates('pull')
  expect(asked).toMatchObject({ code: 2, out: '' })
  expect(asked.err).toContain('welcome.email.txt\n')
  expect(readTexts(folder)).toEqual({ ...TEXTS, ...own })
  const dry = await templates('pull', '--dry-run', '--delete')
  expect(dry.out).toBe(
    'update  template welcome: welcome.email.txt\ndelete  template other: other.email.txt\n',
  )
  expect(readTexts(folder)).toEqual({ ...TEXTS, ...own })
  const typed = await typeAtTerminal(['templates', 'pull'], { cwd, input: 'n\r' })
  expect(typed).toMatchObject({ code: 130, out: expect.stringContaining('Nothing was changed') })
  expect(await templates('pull', '--yes')).toMatchObject({ code: 0 })
  expect(readTexts(folder)).toEqual({ ...TEXTS, 'other.email.txt': 'Other' })
})

test('a push of drafts leaves what is sent as it is', async () => {
  const { cwd, folder, templates } = project()
  await templates('push', '--yes')
  writeTexts(folder, {
    'welcome.email.txt': 'Good day {{name}}\n',
    'partials/footer.txt': 'Acme Ltd.',
    'new.email.txt': 'New',
  })
  const pushed = await templates('push', '--draft', '--yes')
  expect(pushed).toMatchObject({ code: 0, out: expect.stringContaining('update  template welcome: text\n') })
  expect(pushed.err).toMatch(/partial footer can have no draft.*\n.*template new can have no draft/)
  const stored = async (operation: string) =>
    JSON.parse((await carillon(['call', operation, 'welcome', '--json'], { cwd })).out)
  expect(await stored('getTemplate')).toMatchObject({ version: 1, text: 'Hello {{name}}\n' })
  expect(await stored('getTemplateDraft')).toMatchObject({ edit: 1, text: 'Good day {{name}}\n' })
  // The draft is as the files, so that a repeated push changes nothing.
  await templates('push', '--draft', '--yes')
  expect(await stored('getTemplateDraft')).toMatchObject({ edit: 1 })
})

test('push and diff are coloured on a terminal, and nothing there is a control character', async () => {
  const { cwd } = project({ 'a.email.txt': 'x\u001b]0;title\u0007\ty\n' })
  const { code, out } = await typeAtTerminal(['templates', 'push'], { cwd, input: 'y\r' })
  expect(code).toBe(0)
  expect(out).toContain('\u001b[32m+x ]0;title \ty\u001b[39m')
  expect(out).toContain('create  template a')
})

describe('a service elsewhere', () => {
  test('is pulled and pushed by its REST API', async () => {
    const { notifier } = await startNotifier({})
    const { secret } = await notifier.apiKeys.create({ name: 'cli', permission: 'Full Access' })
    const host = await listen(createServer(notifierHandler(notifier, { https: 'off' })))
    onTestFinished(() => host.close())
    const { cwd, folder } = project()
    const templates = (...argv: readonly string[]) =>
      carillon(['templates', ...argv, '--url', host.url], { cwd, env: { CARILLON_API_KEY: secret } })
    expect(await templates('push', '--yes')).toMatchObject({ code: 0 })
    expect((await notifier.templates.get('welcome')).text).toBe('Hello {{name}}\n')
    cpSync(folder, join(cwd, 'copy'), { recursive: true })
    expect(await templates('diff', 'copy')).toMatchObject({ code: 0, out: '' })
    expect(await templates('lint', '--stored')).toMatchObject({ code: 0 })
  })

  test.for([
    ['templates', { name: '../../evil', channel: 'email' }],
    ['templates', { name: 'evil', channel: 'email/../../../evil' }],
    ['templates', { name: '/etc/evil', channel: 'email' }],
    ['layouts', { name: '../../evil' }],
    ['partials', { name: 'a/../../../evil' }],
    ['messages', { locale: '../../evil' }],
  ] as const)('cannot name a path: %s %j', async ([kind, named]) => {
    const port = await serve((req, res) => {
      const { pathname } = new URL(req.url ?? '', 'http://x')
      const item = {
        version: 1,
        hasDraft: false,
        html: 'x',
        text: null,
        body: null,
        locales: {},
        messages: {},
        ...named,
      }
      const items = pathname === `/v1/${kind}` ? [item] : []
      const answer = pathname.startsWith('/v1/messages/') ? item : { items, nextCursor: null, hasMore: false }
      res
        .writeHead(200, { 'content-type': 'application/json', 'x-request-id': 'req_1' })
        .end(JSON.stringify(answer))
    })
    const cwd = temporaryDirectory(onTestFinished)
    const outcome = await carillon(
      ['templates', 'pull', 'a/b/texts', '--yes', '--url', `http://127.0.0.1:${port}`],
      { cwd, env: { CARILLON_API_KEY: 'crl_x' } },
    )
    expect(outcome).toMatchObject({ code: 4, out: '' })
    expect(outcome.err).toContain('evil')
    expect(readdirSync(cwd)).toEqual([])
    expect(existsSync('/etc/evil.email.html')).toBe(false)
  })
})

describe('lint', () => {
  test('finds the faults of files with their own layouts, and of those that are stored', async () => {
    const { folder, templates } = project()
    expect(await templates('lint')).toMatchObject({ code: 0, out: '' })
    writeTexts(folder, { 'welcome.email.html': '<a href="javascript:x()">{{name}}</a>{{> missing}}' })
    const { code, out } = await templates('lint')
    expect(code).toBe(1)
    expect(out).toMatch(/^error {4}welcome \(html.*missing.* \[invalid_template\]$/m)
    writeTexts(folder, { 'welcome.email.html': '<img src="https://example.com/a.png">' })
    const warned = await templates('lint', '--json')
    expect(warned.code).toBe(0)
    const [first = ''] = warned.out.split('\n')
    expect(JSON.parse(first)).toMatchObject({ template: 'welcome', severity: 'warning' })
    await templates('push', '--yes')
    const stored = await templates('lint', '--stored')
    expect(stored).toMatchObject({ code: 0, out: expect.stringContaining('[image_without_alt]') })
  })

  test('goes on after a template that is refused', async () => {
    const { templates } = project({ 'a.pager.txt': 'x', 'b.email.html': '{{#open}}' })
    const { code, out } = await templates('lint')
    expect(code).toBe(1)
    expect(out).toMatch(/error {4}a .*pager/)
    expect(out).toMatch(/error {4}b .*\[invalid_syntax\]/)
  })

  test('needs no service', async () => {
    const cwd = temporaryDirectory(onTestFinished)
    writeTexts(join(cwd, 'texts'), TEXTS)
    expect(await carillon(['templates', 'lint', 'texts'], { cwd })).toMatchObject({ code: 0, out: '' })
  })
})

test.for([
  ['diff', 'missing', 'cannot be read'],
  ['push', 'templates', 'Name it like'],
] as const)('%s of %s ends with 4', async ([command, folder, says]) => {
  const { templates } = project({ 'no-channel.html': 'x' })
  const { code, err } = await templates(command, folder)
  expect(code).toBe(4)
  expect(err).toContain(says)
})
