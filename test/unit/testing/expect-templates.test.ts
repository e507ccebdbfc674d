import { AssertionError } from 'node:assert'
import { expect, it } from 'vitest'
import * as z from 'zod'
import { defineTemplates } from '../../../src/index.ts'
import { expectTemplates, type TemplateExpectations } from '../../../src/testing/expect-templates.ts'
import { recordingProvider } from '../../../src/testing/recording-provider.ts'
import { notifierWorld } from '../../support/notifier-world.ts'

async function open() {
  const notifier = await notifierWorld().start({ channels: { sms: recordingProvider() } })
  const failure = async (expectations?: TemplateExpectations) => {
    const error: unknown = await expectTemplates(notifier, expectations).catch((thrown: unknown) => thrown)
    if (error !== undefined) expect(error).toBeInstanceOf(AssertionError)
    return (error as Error | undefined)?.message
  }
  return { notifier, failure }
}

it('good templates pass, and so does having none', async () => {
  const { notifier, failure } = await open()
  expect(await failure()).toBeUndefined()
  await notifier.templates.create({ name: 'code', channel: 'sms', text: 'Your code is {{code}}' })
  expect(await failure()).toBeUndefined()
  expect(await failure({ variables: { code: { code: '1234' } } })).toBeUndefined()
})

it('one error has the findings of all templates', async () => {
  const { notifier, failure } = await open()
  await notifier.templates.create({ name: 'code', channel: 'sms', text: 'Your code is {{code}}' })
  await notifier.templates.create({ name: 'alarm', channel: 'slack', text: 'Fire\n{{url}}' })
  const expectations = {
    variables: { code: { cdoe: '1234' }, alarm: { url: 'http://a.example' }, lost: {} },
    parts: { alarm: { slack: { blocks: [{ type: 'header' }] } } },
  }
  expect(await failure(expectations)).toBe(
    [
      '5 findings in 2 templates:',
      'The template "lost" does not exist. Correct its name in the expectations.',
      'alarm (en) slack.blocks[0].text: invalid_block. Slack refuses "slack.blocks[0].text": must be given.',
      'alarm (en) text: plain_http_link. A link begins with "http:", so that others can read and change what it leads to. Write https.',
      '    http://a.example',
      'code (en) text, line 1: missing_variable. A send needs {{code}}, which must be a text, a number or a boolean. Correct the name, or give it an example.',
      '    {{code}}',
      'code (en) variables: unused_variable. No text uses the value "cdoe". Leave it out, or correct its name.',
    ].join('\n'),
  )
})

it('rules may be ignored, and warnings too', async () => {
  const { notifier, failure } = await open()
  await notifier.templates.create({ name: 'code', channel: 'sms', text: `http://a.example {{code}}` })
  expect(await failure()).toContain('plain_http_link')
  expect(await failure({ ignore: ['plain_http_link'] })).toBeUndefined()
  expect(await failure({ severity: 'error' })).toBeUndefined()
  expect(await failure({ severity: 'error', variables: { code: {} } })).toContain('1 finding in 1 template:')
})

it('another organization has templates of its own', async () => {
  const { notifier, failure } = await open()
  await notifier.organizations.create({ id: 'org_other', name: 'Other' })
  await notifier
    .organization('org_other')
    .templates.create({ name: 'a', channel: 'sms', text: 'http://a.example' })
  expect(await failure()).toBeUndefined()
  expect(await failure({ organization: 'org_other' })).toContain('a (en) text, line 1: plain_http_link')
})

it('all pages of a long list are read, and long lists of findings are cut', async () => {
  const { notifier, failure } = await open()
  for (let index = 0; index < 201; index += 1)
    await notifier.templates.create({ name: `a${index}`, channel: 'sms', text: 'http://a.example' })
  const message = (await failure()) ?? ''
  expect(message).toContain('201 findings in 201 templates:')
  expect(message.match(/^a\d+ /gm)).toHaveLength(200)
  expect(message).toContain('… and 1 more')
})

it('templates in code are checked with their examples, and their own errors are shown', async () => {
  const templates = defineTemplates({
    broken: {
      channel: 'sms',
      example: {},
      text: () => {
        throw new Error('no such user')
      },
    },
    code: { channel: 'sms', example: { url: 'http://a.example' }, text: '{{url}}' },
    invoice: {
      channel: 'sms',
      variables: z.object({ total: z.number() }),
      example: { total: 1 },
      stored: true,
    },
  })
  const notifier = await notifierWorld().start({ channels: { sms: recordingProvider() }, templates })
  const message = await expectTemplates(notifier).catch((error: Error) => error.message)
  expect(message).toContain('2 findings in 2 templates:')
  expect(message).toContain('broken (en) text: invalid_template.')
  expect(message).toContain('Error: no such user')
  expect(message).toContain('code (en) text: plain_http_link')
  await notifier.templates.create({ name: 'invoice', channel: 'sms', text: '{{totl}}' })
  await expect(expectTemplates(notifier)).rejects.toThrow('invoice (en) text, line 1: missing_variable')
})
