import { describe, expect, it } from 'vitest'
import { type BoundsOptions, DEFAULT_BOUNDS, HIGHEST_BOUNDS } from '../../../../src/core/input/bounds.ts'
import { createNotifier } from '../../../../src/create-notifier.ts'
import { recordingProvider } from '../../../../src/testing/recording-provider.ts'
import { notifierWorld } from '../../../support/notifier-world.ts'

const to = 'ada@example.com'
/** Two bytes each. */
const wide = (bytes: number) => 'é'.repeat(bytes / 2)
const world = notifierWorld()

const start = (bounds?: BoundsOptions) =>
  world.start({ channels: { email: recordingProvider() }, ...(bounds === undefined ? {} : { bounds }) })

/** The error of a bound. */
const beyond = (bound: keyof BoundsOptions, field: string, size: number) => ({
  code: 'invalid_parameter',
  details: { field, size, most: DEFAULT_BOUNDS[bound], option: `bounds.${bound}` },
})

describe('the option bounds', () => {
  it.each([
    [{ text: 1 }, 'bounds.text'],
    [{ textBytes: 0 }, 'bounds.textBytes'],
    [{ tags: 1.5 }, 'bounds.tags'],
    [{ tags: '5' }, 'bounds.tags'],
    [{ tags: Number.POSITIVE_INFINITY }, 'bounds.tags'],
    [{ locales: HIGHEST_BOUNDS.locales + 1 }, 'bounds.locales'],
    [[], 'bounds'],
  ])('%j names what is wrong', (bounds, option) => {
    const created = () =>
      createNotifier({ channels: { email: recordingProvider() }, bounds: bounds as never })
    expect(created).toThrow(expect.objectContaining({ code: 'invalid_configuration', details: { option } }))
  })

  it('takes the default for what is absent, and the highest values', async () => {
    await (await start({ tags: undefined })).stop()
    await (await start(HIGHEST_BOUNDS)).stop()
  })
})

describe('a message', () => {
  it.each(['html', 'text', 'body'] as const)('has a bound for the bytes of %s', async (field) => {
    const notifier = await start()
    const message = (bytes: number) => ({ channel: 'email', to, subject: 'x', [field]: wide(bytes) }) as never
    expect(await notifier.send(message(262_144))).toMatchObject({ status: 'queued' })
    await expect(notifier.send(message(262_146))).rejects.toMatchObject(beyond('textBytes', field, 262_146))
    await expect(notifier.validate(message(262_146))).rejects.toMatchObject(
      beyond('textBytes', field, 262_146),
    )
    const { items } = await notifier.sendBatch([message(262_146), message(2)])
    expect(items).toMatchObject([{ error: { code: 'invalid_parameter' } }, { status: 'queued' }])
  })

  it.each(['variables', 'data'])('has a bound for the bytes of %s', async (field) => {
    const notifier = await start()
    await notifier.templates.create({ name: field, channel: 'email', body: 'Hello' })
    const message = (bytes: number) => ({ to, template: field, [field]: { a: wide(bytes) } }) as never
    const around = Buffer.byteLength(JSON.stringify({ a: '' }))
    expect(await notifier.send(message(262_144 - around))).toMatchObject({ status: 'queued' })
    await expect(notifier.send(message(262_144))).rejects.toMatchObject(
      beyond('variablesBytes', field, 262_144 + around),
    )
    await expect(notifier.templates.preview(field, { a: wide(262_144) })).rejects.toMatchObject(
      beyond('variablesBytes', 'variables', 262_144 + around),
    )
  })

  it('says what it has, what may be, and who decides', async () => {
    const notifier = await start()
    await expect(notifier.send({ channel: 'email', to, text: 'x'.repeat(262_145) })).rejects.toThrow(
      '"text" has 262,145 bytes; the option "bounds.textBytes" of the service allows 262,144. Shorten it, or raise the option.',
    )
  })

  it('has a bound for its rendered text in bytes', async () => {
    const notifier = await start()
    await notifier.templates.create({ name: 'twice', channel: 'email', body: '{{t}}{{t}}' })
    const send = (bytes: number) => notifier.send({ to, template: 'twice', variables: { t: wide(bytes) } })
    expect(await send(131_072)).toMatchObject({ status: 'queued' })
    await expect(send(131_074)).rejects.toMatchObject({ code: 'message_too_large' })
  })

  it('shares one bound for expanded tags among its texts', async () => {
    const notifier = await start()
    const list = '{{#a}}{{.}}{{/a}}'
    await notifier.templates.create({ name: 'one', channel: 'email', text: list })
    await notifier.templates.create({ name: 'both', channel: 'email', text: list, html: `<p>${list}</p>` })
    const variables = { a: Array(8_000).fill(1) }
    expect(await notifier.send({ to, template: 'one', variables })).toMatchObject({ status: 'queued' })
    await expect(notifier.send({ to, template: 'both', variables })).rejects.toMatchObject({
      code: 'message_too_large',
    })
  })

  it('is accepted beyond the default where the application raises it', async () => {
    const notifier = await start({ textBytes: 600_000, variablesBytes: 600_000, expandedTags: 100_000 })
    expect(await notifier.send({ channel: 'email', to, text: wide(600_000) })).toMatchObject({
      status: 'queued',
    })
    await notifier.templates.create({ name: 'list', channel: 'email', body: '{{#a}}{{#a}}{{/a}}{{/a}}' })
    const variables = { a: Array(300).fill(1), t: 'x'.repeat(500_000) }
    expect(await notifier.send({ to, template: 'list', variables })).toMatchObject({ status: 'queued' })
  })

  it('is refused where the application lowers it', async () => {
    const notifier = await start({ textBytes: 10 })
    await expect(notifier.send({ channel: 'email', to, text: wide(12) })).rejects.toMatchObject({
      details: { field: 'text', size: 12, most: 10 },
    })
  })
})

describe('a template', () => {
  it('has a bound for each text, in any of its locales', async () => {
    const { templates } = await start()
    const own = { name: 'own', channel: 'email', html: wide(262_146) }
    await expect(templates.create(own)).rejects.toMatchObject(beyond('textBytes', 'html', 262_146))
    const variant = { name: 'variant', channel: 'email', body: 'x', locales: { de: { text: wide(262_146) } } }
    await expect(templates.create(variant)).rejects.toMatchObject(
      beyond('textBytes', 'locales.de.text', 262_146),
    )
    const { name: _, ...draft } = variant
    await expect(templates.previewDraft(draft)).rejects.toMatchObject(
      beyond('textBytes', 'locales.de.text', 262_146),
    )
  })

  it('has a bound for all its texts, however they come together', async () => {
    const { templates } = await start()
    const part = { text: wide(200_000) }
    const all = { name: 'all', channel: 'email', ...part, locales: { de: part, fr: part, es: part } }
    await templates.create(all)
    const further = { locales: { it: part, pl: part } }
    const refusal = beyond('templateBytes', 'locales', 1_200_000)
    await expect(templates.update('all', further)).rejects.toMatchObject(refusal)
    await expect(templates.saveDraft('all', further)).rejects.toMatchObject(refusal)
    const locales = { ...all.locales, ...further.locales }
    await expect(templates.create({ ...all, name: 'more', locales })).rejects.toMatchObject(refusal)
    await expect(templates.lintDraft({ channel: 'email', ...part, locales })).resolves.toMatchObject({
      findings: [{ rule: 'invalid_syntax' }],
    })
    await templates.update('all', { locales: { it: part } })
  })

  it('has a bound for its locales', async () => {
    const { templates } = await start({ locales: 2 })
    const locales = { de: { text: 'a' }, fr: { text: 'b' } }
    await templates.create({ name: 'some', channel: 'email', text: 'x', locales })
    await expect(templates.update('some', { locales: { es: { text: 'c' } } })).rejects.toMatchObject({
      details: { field: 'locales', size: 3, most: 2 },
    })
  })

  it('has a bound for the tags of all its texts', async () => {
    const { templates } = await start()
    const part = { text: '{{a}}'.repeat(2_000) }
    await templates.create({ name: 'tags', channel: 'email', ...part, locales: { de: part, fr: part } })
    await expect(
      templates.update('tags', { locales: { es: part, it: part, pl: part } }),
    ).rejects.toMatchObject(beyond('templateTags', 'locales', 12_000))
    await templates.update('tags', { locales: { es: part, it: part } })
  })

  it('has a bound for its tags with those of its layout and partials', async () => {
    const { templates, partials, layouts } = await start()
    await partials.create({ name: 'many', text: '{{a}}'.repeat(999) })
    await layouts.create({ name: 'frame', text: '{{content}}{{b}}' })
    const base = { channel: 'email', layout: 'frame' }
    // Two partials with 999 tags each; with the frame's two there are 2,002.
    const within = { ...base, name: 'within', text: '{{> many}}', subject: '{{> many}}' }
    await templates.create(within)
    await expect(templates.create({ ...base, name: 'beyond', text: '{{> many}}{{> many}}' })).rejects.toThrow(
      'has more than 2,000 tags with its layout and partials',
    )
  })

  it('is refused in sends after its bounds were lowered, and says so', async () => {
    const shared = notifierWorld()
    const first = await shared.start({ channels: { email: recordingProvider() } })
    await first.templates.create({ name: 'long', channel: 'email', body: '{{!x}}'.repeat(10) })
    await first.stop()
    const second = await shared.start({ channels: { email: recordingProvider() }, bounds: { tags: 5 } })
    await expect(second.send({ to, template: 'long' })).rejects.toThrow('has more than 5 tags')
  })
})

it.each(['layouts', 'partials'] as const)('%s have a bound for their texts together', async (role) => {
  const notifier = await start()
  const texts = (bytes: number) => ({
    html: `{{{content}}}${wide(65_536)}`,
    text: `{{content}}${wide(bytes)}`,
  })
  const tags = '{{{content}}}{{content}}'.length
  await notifier[role].create({ name: 'brand', ...texts(65_536 - tags) })
  await expect(notifier[role].create({ name: 'other', ...texts(65_538 - tags) })).rejects.toMatchObject(
    beyond('sharedTextBytes', 'html', 131_074),
  )
  await expect(notifier[role].update('brand', { text: `{{content}}${wide(65_536)}` })).rejects.toMatchObject(
    beyond('sharedTextBytes', 'html', 131_072 + tags),
  )
})

describe('a catalogue', () => {
  it('has bounds for its messages, their bytes and their tokens', async () => {
    const { messages } = await start()
    const some = (count: number, text: string) =>
      Object.fromEntries(Array.from({ length: count }, (_, at) => [`k${at}`, text]))
    await messages.put('de', some(1_000, 'x'))
    await expect(messages.put('de', some(1_001, 'x'))).rejects.toMatchObject(
      beyond('catalogueMessages', 'messages', 1_001),
    )
    await expect(messages.put('de', some(140, wide(2_000)))).rejects.toMatchObject(
      beyond('catalogueBytes', 'messages', 140 * 2_000 + 10 * 2 + 90 * 3 + 40 * 4),
    )
    // Each costs the time of its own: the sum bounds that of the whole.
    await messages.put('de', some(100, '{a}'.repeat(100)))
    await expect(messages.put('de', some(101, '{a}'.repeat(100)))).rejects.toMatchObject(
      beyond('catalogueTokens', 'messages', 10_100),
    )
  })

  it.each([
    [
      'characters',
      `{${' '.repeat(2_000)}`,
      '"messages.k" has 2,001 characters; the option "bounds.messageCharacters" of the service allows 2,000. Shorten it, or raise the option.',
    ],
    [
      'arguments',
      `${'{a}'.repeat(100)}{`,
      '"messages.k" has 101 arguments, number signs, branches and words of formats',
    ],
    ['number signs', `{n, plural, other {${'#'.repeat(100)}`, '"messages.k" has 102 arguments'],
    ['words of a format', `{n, number, ::${'percent '.repeat(100)}`, '"messages.k" has 101 arguments'],
    ['a nested plural', '{n, plural, other {'.repeat(51), '"messages.k" has 102 arguments'],
  ])('refuses too many %s before a message is read', async (_what, message, reason) => {
    const { messages } = await start()
    // Nobody has seen that it is not closed.
    const details = { field: 'messages.k', size: expect.any(Number), most: expect.any(Number) }
    await expect(messages.put('de', { k: message })).rejects.toMatchObject({
      code: 'invalid_parameter',
      message: expect.stringContaining(reason),
      details,
    })
  })

  it('has a bound for its locales', async () => {
    const { messages } = await start({ locales: 1 })
    await messages.put('de', { k: 'x' })
    await expect(messages.put('fr', { k: 'x' })).rejects.toThrow(
      'at most 1 locales, by the option "bounds.locales"',
    )
    await messages.put('de', { k: 'y' })
  })

  it('of the application has the same bounds', async () => {
    const created = (messages: object, bounds?: BoundsOptions) =>
      createNotifier({ channels: { email: recordingProvider() }, messages: messages as never, bounds })
    expect(() => created({ de: {}, fr: {} }, { locales: 1 })).toThrow('"bounds.locales"')
    expect(() => created({ de: { a: 'x', b: 'y' } }, { catalogueMessages: 1 })).toThrow(
      '"bounds.catalogueMessages"',
    )
    const notifier = created({ de: { a: '{n}{n}' } }, { messageTokens: 1 })
    await expect(notifier.start()).rejects.toThrow('"bounds.messageTokens" of the service allows 1.')
  })

  it('has few different formats in one template', async () => {
    const { messages, templates, send } = await start()
    const keys = Array.from({ length: 101 }, (_, at) => `k${at}`)
    const formats = keys.map((key, at) => [
      key,
      `{n, number, ::.${'0'.repeat(1 + (at % 15))} scale/${at + 1}}`,
    ])
    await messages.put('en', Object.fromEntries(formats))
    const body = (count: number) =>
      keys
        .slice(0, count)
        .map((key) => `{{@${key}}}`)
        .join('')
    await templates.create({ name: 'few', channel: 'email', body: body(100) })
    expect(await send({ to, template: 'few', variables: { n: 1 } })).toMatchObject({ status: 'queued' })
    await templates.create({ name: 'many', channel: 'email', body: body(101) })
    await expect(send({ to, template: 'many', variables: { n: 1 } })).rejects.toThrow(
      'more than 100 different formats',
    )
  })
})

describe('the texts of the application', () => {
  const created = (options: object) => () =>
    createNotifier({ channels: { email: recordingProvider() }, ...options })

  it.each([
    [{ layouts: { brand: { text: `{{content}}${wide(131_072)}` } } }, '"bounds.sharedTextBytes"'],
    [{ partials: { footer: { text: wide(131_074) } } }, '"bounds.sharedTextBytes"'],
    [{ templates: { a: { channel: 'email', text: wide(262_146) } } }, '"bounds.textBytes"'],
    [
      { templates: { a: { channel: 'email', text: '{{a}}' } }, bounds: { tags: 1, textBytes: 4 } },
      '"bounds.textBytes"',
    ],
  ])('have the same bounds: %#', (options, bound) => {
    expect(created(options)).toThrow(expect.objectContaining({ code: 'invalid_configuration' }))
    expect(created(options)).toThrow(bound)
  })
})
