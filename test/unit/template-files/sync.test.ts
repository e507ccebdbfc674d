import { mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, it, onTestFinished } from 'vitest'
import { isWellFormed } from '../../../src/core/input/json.ts'
import {
  pullTemplates,
  pushTemplates,
  readTemplates,
  type TemplateFiles,
} from '../../../src/template-files/index.ts'
import { pushSteps } from '../../../src/template-files/push.ts'
import { storedTexts } from '../../../src/template-files/target.ts'
import { recordingProvider } from '../../../src/testing/recording-provider.ts'
import { notifierWorld } from '../../support/notifier-world.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

async function open() {
  const notifier = await notifierWorld().start({ channels: { email: recordingProvider() } })
  let organizations = 0
  return {
    notifier,
    async organization() {
      organizations += 1
      const { id } = await notifier.organizations.create({ id: `org_${organizations}`, name: 'Some' })
      return notifier.organization(id)
    },
  }
}

const directory = () => temporaryDirectory(onTestFinished)

function folder(files: Readonly<Record<string, string>>): string {
  const path = directory()
  for (const below of ['layouts', 'partials', 'messages']) mkdirSync(join(path, below))
  for (const [name, text] of Object.entries(files)) writeFileSync(join(path, name), text)
  return path
}

function contents(path: string): Record<string, string> {
  const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return Object.fromEntries(
    files.map(({ parentPath, name }) => [
      join(parentPath, name).slice(path.length + 1),
      readFileSync(join(parentPath, name), 'utf8'),
    ]),
  )
}

const SHOP = {
  'welcome.email.html':
    '---\nsubject: Welcome, {{name}}\nlayout: brand\nlocale: en\nmetadata: {"team":"shop"}\n---\n<p>Hello {{name}}</p>\n',
  'welcome.email.txt': 'Hello {{name}}\n',
  'welcome.email.de.html': '---\nsubject: Willkommen, {{name}}\n---\n<p>Hallo {{name}}</p>\n',
  'welcome.email.de.txt': 'Hallo {{name}}\n',
  'login-code.sms.txt': 'Your code is {{code}}',
  'layouts/brand.html': '---\ndescription: All mails\n---\n<main>{{{content}}}</main>{{> footer}}',
  'layouts/brand.txt': '{{content}}\n{{> footer}}',
  'partials/footer.html': '<footer>{{> address}}</footer>',
  'partials/footer.txt': '{{> address}}',
  'partials/address.html': '<p>Acme</p>',
  'partials/address.txt': 'Acme',
  'messages/de.json': '{\n  "hello": "Hallo"\n}\n',
}

const actionsOf = (changes: readonly { kind: string; name: string; action: string }[]) =>
  changes.map(({ kind, name, action }) => `${action} ${kind} ${name}`)

describe('a push', () => {
  it('stores a folder, and then changes nothing', async () => {
    const { notifier } = await open()
    const shop = folder(SHOP)
    const wanted = [
      'create partial address',
      'create partial footer',
      'create layout brand',
      'create messages de',
      'create template login-code',
      'create template welcome',
    ]
    expect(actionsOf(await pushTemplates(notifier, shop, { dryRun: true }))).toEqual(wanted)
    expect((await notifier.templates.list()).items).toEqual([])
    expect(actionsOf(await pushTemplates(notifier, shop))).toEqual(wanted)
    expect(await notifier.templates.get('welcome')).toMatchObject({
      subject: 'Welcome, {{name}}',
      layout: 'brand',
      locale: 'en',
      metadata: { team: 'shop' },
      html: '<p>Hello {{name}}</p>\n',
      text: 'Hello {{name}}\n',
      locales: { de: { subject: 'Willkommen, {{name}}', text: 'Hallo {{name}}\n' } },
    })
    const again = await pushTemplates(notifier, shop)
    expect(actionsOf(again)).toEqual(wanted.map((action) => action.replace('create', 'unchanged')))
    expect(await notifier.templates.get('welcome')).toMatchObject({ version: 1 })
  })

  it('changes what differs, and deletes only if asked', async () => {
    const { notifier } = await open()
    await pushTemplates(notifier, folder(SHOP))
    const { 'login-code.sms.txt': _, 'welcome.email.de.html': __, 'messages/de.json': ___, ...rest } = SHOP
    const changed = folder({
      ...rest,
      'welcome.email.html': '---\nsubject: Hi\n---\n<p>Hi</p>',
      'layouts/brand.txt': '{{content}}',
    })
    const isChanged = ({ action }: { action: string }) => action !== 'unchanged'
    const changes = (await pushTemplates(notifier, changed)).filter(isChanged)
    expect(changes).toEqual(
      [
        { kind: 'layout', name: 'brand', action: 'update', changes: ['text'] },
        {
          kind: 'template',
          name: 'welcome',
          action: 'update',
          changes: [
            'subject',
            'layout',
            'locale',
            'metadata',
            'html',
            'locales.de.subject',
            'locales.de.html',
          ].sort(),
        },
      ].map((one) => ({ ...one, changes: expect.arrayContaining(one.changes) })),
    )
    expect((await notifier.templates.get('welcome')).locales).toEqual({
      de: { subject: null, html: null, body: null, text: 'Hallo {{name}}\n' },
    })
    const deleted = (await pushTemplates(notifier, changed, { delete: true })).filter(isChanged)
    expect(actionsOf(deleted)).toEqual(['delete template login-code', 'delete messages de'])
    const emptied = (await pushTemplates(notifier, folder({}), { delete: true })).filter(isChanged)
    expect(actionsOf(emptied)).toEqual([
      'delete template welcome',
      'delete layout brand',
      'delete partial footer',
      'delete partial address',
    ])
  })

  it('is completed by the next one after an interruption, wherever it was', async () => {
    const { organization } = await open()
    const shop = folder(SHOP)
    for (let calls = 0; calls < 6; calls += 1) {
      const target = await organization()
      let left = calls
      const cut = <Group extends object>(group: Group): Group =>
        new Proxy(group, {
          get(object, name) {
            const method: unknown = Reflect.get(object, name)
            if (name !== 'create' && name !== 'put') return method
            return (...given: unknown[]) => {
              left -= 1
              if (left < 0) throw new Error('killed')
              return (method as (...args: unknown[]) => unknown)(...given)
            }
          },
        })
      const dying = {
        templates: cut(target.templates),
        layouts: cut(target.layouts),
        partials: cut(target.partials),
        messages: cut(target.messages),
      }
      await expect(pushTemplates(dying, shop)).rejects.toThrow('killed')
      await pushTemplates(target, shop)
      const again = await pushTemplates(target, shop)
      expect(again.every(({ action }) => action === 'unchanged')).toBe(true)
      expect(again).toHaveLength(6)
    }
  })

  it('names what the notifier refuses', async () => {
    const { notifier } = await open()
    await expect(pushTemplates(notifier, folder({ 'a.email.html': '{{#b}}' }))).rejects.toMatchObject({
      code: 'invalid_parameter',
      message: expect.stringContaining('The template "a": '),
      details: { kind: 'template', name: 'a', field: 'body' },
    })
    await notifier.templates.create({ name: 'a', channel: 'sms', text: 'x' })
    await expect(pushTemplates(notifier, folder({ 'a.email.html': 'x' }))).rejects.toMatchObject({
      message: expect.stringContaining('The channel of a template never changes'),
    })
  })
})

describe('a pull', () => {
  it('gives the files of a push back, and is idempotent', async () => {
    const { notifier } = await open()
    await pushTemplates(notifier, folder(SHOP))
    const path = join(directory(), 'new')
    const planned = await pullTemplates(notifier, path, { dryRun: true })
    expect(planned.every(({ action }) => action === 'create')).toBe(true)
    expect(await pullTemplates(notifier, path)).toEqual(planned)
    expect(contents(path)).toEqual(SHOP)
    const again = await pullTemplates(notifier, path)
    expect(again.every(({ action, changes }) => action === 'unchanged' && changes.length === 0)).toBe(true)
  })

  it('removes other files of the same text, and of others only if asked', async () => {
    const { notifier } = await open()
    await notifier.templates.create({ name: 'a', channel: 'email', html: '<p>x</p>' })
    const path = folder({ 'a.email.txt': 'old', 'a.email.de.txt': 'old', 'b.sms.txt': 'x', 'README.md': 'x' })
    expect(await pullTemplates(notifier, path)).toEqual([
      {
        kind: 'template',
        name: 'a',
        action: 'update',
        changes: ['a.email.html', 'a.email.de.txt', 'a.email.txt'],
      },
    ])
    expect(Object.keys(contents(path)).sort()).toEqual(['README.md', 'a.email.html', 'b.sms.txt'])
    expect(actionsOf(await pullTemplates(notifier, path, { delete: true }))).toEqual([
      'unchanged template a',
      'delete template b',
    ])
  })

  it('never writes through a link', async () => {
    const { notifier } = await open()
    await notifier.partials.create({ name: 'a', text: 'x' })
    const [path, outside] = [directory(), directory()]
    symlinkSync(outside, join(path, 'partials'))
    await expect(pullTemplates(notifier, path)).rejects.toMatchObject({ details: { file: 'partials' } })
    expect(readdirSync(outside)).toEqual([])
  })
})

describe('any texts', () => {
  const text = fc
    .oneof(
      fc.string({ unit: 'grapheme', minLength: 1, maxLength: 30 }),
      fc.constantFrom(
        '---\n',
        '---\na: b\n---\nx',
        '\ufeff---\nx',
        '\ufeffx',
        '\r\n',
        'x\n',
        ' ',
        '# a',
        "'",
        '"',
        '{}',
        'null',
        '1',
        'a: b',
        'a #b',
        '\u2028',
        '\u0085',
      ),
    )
    .filter((each) => !each.includes('{{') && isWellFormed(each))
  const bodies = fc.oneof(
    fc.record({ html: text }),
    fc.record({ text }),
    fc.record({ html: text, text }),
    fc.record({ body: text }),
  )
  const variant = fc.tuple(fc.option(text), bodies).map(([subject, body]) => ({ subject, ...body }))
  const template = fc.record({
    channel: fc.constant('email'),
    subject: fc.option(text),
    description: fc.option(text),
    metadata: fc.option(
      fc.dictionary(
        fc.stringMatching(/^[a-z]{1,5}$/),
        fc.stringMatching(/^[ -~]{1,9}$/).map((each) => each.trim() || 'x'),
        { minKeys: 1, maxKeys: 2 },
      ),
    ),
    locale: fc.option(fc.constantFrom('en', 'fr-BE')),
    locales: fc.dictionary(fc.constantFrom('de', 'pt-BR', 'zh-Hant'), variant, { maxKeys: 2 }),
    body: bodies,
  })

  it('come back from files as they were, and a push of them changes nothing', async () => {
    const { organization } = await open()
    await fc.assert(
      fc.asyncProperty(fc.array(template, { minLength: 1, maxLength: 3 }), async (templates) => {
        const [one, other] = [await organization(), await organization()]
        for (const [index, { body, ...fields }] of templates.entries())
          await one.templates.create({ name: `t${index}`, ...fields, ...body } as never)
        const [first, second] = [join(directory(), 'a'), join(directory(), 'b')]
        await pullTemplates(one, first)
        for (const target of [one, other]) {
          await pushTemplates(target, first)
          const again = await pushTemplates(target, first)
          expect(again.filter(({ action }) => action !== 'unchanged')).toEqual([])
        }
        for (const { version } of (await one.templates.list()).items) expect(version).toBe(1)
        await pullTemplates(other, second)
        expect(contents(second)).toEqual(contents(first))
      }),
      { numRuns: 40 },
    )
  })

  it('of any form become any others', async () => {
    const { organization } = await open()
    await fc.assert(
      fc.asyncProperty(template, template, async (before, after) => {
        const target = await organization()
        const filesOf = ({ body, ...fields }: typeof before) =>
          ({
            templates: { a: clean({ ...fields, ...body }) },
            layouts: {},
            partials: {},
            messages: {},
          }) as unknown as TemplateFiles
        await pushTemplates(target, filesOf(before))
        await pushTemplates(target, filesOf(after))
        const [change] = await pushTemplates(target, filesOf(after))
        expect(change).toMatchObject({ action: 'unchanged' })
      }),
      { numRuns: 40 },
    )
  })

  /** Without what is null. */
  function clean(value: object): object {
    const entries = Object.entries(value).flatMap(([name, each]) => {
      if (each === null || (name === 'locales' && Object.keys(each).length === 0)) return []
      return [[name, typeof each === 'object' ? clean(each) : each]]
    })
    return Object.fromEntries(entries)
  }
})

describe('a folder', () => {
  it.each<[Record<string, string>, string]>([
    [{ 'welcome.html': 'x' }, 'welcome.html: Name it like'],
    [{ 'Welcome.email.html': 'x' }, 'Welcome.email.html: Name it like'],
    [{ 'a.email.xx_yy.html': 'x' }, 'a.email.xx_yy.html: Name it like'],
    [{ 'a.email.de.fr.html': 'x' }, 'a.email.de.fr.html: Name it like'],
    [{ 'layouts/a.mustache': 'x' }, 'layouts/a.mustache: Name it like'],
    [{ 'messages/en.txt': 'x' }, 'messages/en.txt: Name it like'],
    [{ 'a.email.de.html': 'x' }, 'a.email.de.html: There is no template "a" for email'],
    [{ 'a.email.html': 'x', 'a.sms.txt': 'x' }, 'a.sms.txt: Another file has the template "a"'],
    [
      { 'a.email.html': 'x', 'a.email.de.html': 'x', 'a.email.DE.html': 'x' },
      ': Another file has the same text',
    ],
    [{ 'a.email.html': 'x', 'a.email.mustache': 'x' }, 'a.email.mustache: It stands for HTML and text'],
    [{ 'a.email.html': '---\nsubject: x\n' }, 'a.email.html:3: The front matter does not end'],
    [{ 'a.email.html': '---\nsubject\n---\n' }, 'a.email.html:2: A line of the front matter'],
    [
      { 'a.email.html': '---\n# note\n\nsubjct: x\n---\n' },
      'a.email.html:4: "subjct" is unknown here. Known: subject,',
    ],
    [{ 'a.email.html': '---\nsubject: x\nsubject: y\n---\n' }, 'a.email.html:3: "subject" is given twice'],
    [
      { 'a.email.html': '---\nsubject: a: b\n---\n' },
      'a.email.html:2: Put the value in quotation marks: "a: b"',
    ],
    [{ 'a.email.html': '---\nsubject: {{name}}\n---\n' }, 'a.email.html:2: The value begins like JSON'],
    [
      { 'a.email.html': '---\nmetadata: {"a":1}\n---\n' },
      'a.email.html:2: "metadata" must be an object of texts',
    ],
    [
      { 'a.email.html': 'x', 'a.email.de.html': '---\nlayout: b\n---\n' },
      'a.email.de.html:2: "layout" is unknown',
    ],
    [{ 'messages/en.json': '{\n"a": 1' }, 'messages/en.json'],
    [{ 'messages/en.json': '{"a": 1}' }, 'messages/en.json: It must be an object of messages'],
  ])('%j is refused', async (files, message) => {
    const refused = await readTemplates(folder(files)).catch((error: unknown) => error)
    expect(refused).toMatchObject({ code: 'invalid_parameter', message: expect.stringContaining(message) })
  })

  it('is read tolerantly where it is unambiguous', async () => {
    const path = folder({
      'a.email.html': '\ufeff---\r\nsubject: "a: b"\r\n---\r\n<p>x</p>\r\n',
      'notes.md': 'x',
      '.hidden': 'x',
    })
    expect((await readTemplates(path)).templates).toEqual({
      a: { channel: 'email', subject: 'a: b', html: '<p>x</p>\r\n' },
    })
  })

  it('has no links, other folders, or files that are no UTF-8', async () => {
    const linked = folder({})
    symlinkSync('/etc/hostname', join(linked, 'a.email.html'))
    await expect(readTemplates(linked)).rejects.toMatchObject({ details: { file: 'a.email.html' } })
    const nested = folder({})
    mkdirSync(join(nested, 'more'))
    await expect(readTemplates(nested)).rejects.toMatchObject({ details: { file: 'more' } })
    const binary = folder({})
    writeFileSync(join(binary, 'a.email.html'), Buffer.from([0xff, 0xfe]))
    await expect(readTemplates(binary)).rejects.toMatchObject({ details: { file: 'a.email.html' } })
    await expect(readTemplates(join(binary, 'lost'))).rejects.toMatchObject({ code: 'invalid_parameter' })
  })
})

describe('a push that was planned', () => {
  it('is refused if somebody has changed the text meanwhile', async () => {
    const { organization } = await open()
    const target = await organization()
    const path = folder({
      'a.email.txt': 'One',
      'layouts/brand.txt': '{{content}}',
      'messages/de.json': '{}',
    })
    await pushTemplates(target, path)
    writeFileSync(join(path, 'a.email.txt'), 'Two')
    writeFileSync(join(path, 'layouts/brand.txt'), '{{content}}!')
    writeFileSync(join(path, 'messages/de.json'), '{"a":"A"}')
    const steps = pushSteps(target, await readTemplates(path), await storedTexts(target), {})
    await target.templates.update('a', { text: 'Of somebody' })
    await target.layouts.update('brand', { text: 'Of somebody {{content}}' })
    await target.messages.put('de', { a: 'Of somebody' })
    for (const step of steps) await expect(step.run()).rejects.toMatchObject({ code: 'version_conflict' })
    expect((await target.templates.get('a')).text).toBe('Of somebody')
  })

  it('of drafts is refused if somebody has begun or changed a draft meanwhile', async () => {
    const { organization } = await open()
    const target = await organization()
    const path = folder({ 'a.email.txt': 'One' })
    await pushTemplates(target, path)
    writeFileSync(join(path, 'a.email.txt'), 'Two')
    const files = await readTemplates(path)
    for (const text of ['Of somebody', 'Of somebody else']) {
      const steps = pushSteps(target, files, await storedTexts(target, true), { draft: true })
      await target.templates.saveDraft('a', { text })
      for (const step of steps) await expect(step.run()).rejects.toMatchObject({ code: 'version_conflict' })
    }
    const changes = await pushTemplates(target, path, { draft: true })
    expect(changes).toEqual([{ kind: 'template', name: 'a', action: 'update', changes: ['text'] }])
    expect(await target.templates.draft('a')).toMatchObject({ edit: 3, text: 'Two', basedOn: 1 })
    expect(await pushTemplates(target, path, { draft: true })).toMatchObject([{ action: 'unchanged' }])
  })
})
