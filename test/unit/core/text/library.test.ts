import { describe, expect, it } from 'vitest'
import { NO_LIBRARY } from '../../../../src/core/text/library.ts'
import type { Template } from '../../../../src/core/text/template.ts'

const template: Template = {
  id: 'tpl_1',
  organizationId: 'org_default',
  name: 'welcome',
  channel: 'email',
  subject: null,
  body: 'Hello',
  format: null,
  text: null,
  description: null,
  version: 1,
  createdAt: 0,
  updatedAt: 0,
}

const reads = {
  get() {
    throw new Error('Nothing is read.')
  },
}

describe('a service without layouts, partials and languages', () => {
  it('leaves a template as it is', async () => {
    expect(await NO_LIBRARY.complete(template, reads, 'de')).toBe(template)
    expect(await NO_LIBRARY.load(template, {})).toBe(template)
  })

  it.each([
    [{ layout: 'brand' }, 'The layout "brand" does not exist'],
    [{ uses: ['footer'] }, 'The partial "footer" does not exist'],
  ])('refuses a template that names one: %o', async (named, message) => {
    await expect(NO_LIBRARY.complete({ ...template, ...named }, reads, undefined)).rejects.toMatchObject({
      code: 'invalid_template',
      message: expect.stringContaining(message),
    })
  })

  it.each([
    [{ layout: 'lay_1@2' }, 'lay_1@2'],
    [{ partials: ['part_1@3'] }, 'part_1@3'],
    [{ locale: 'fr', messages: [] }, 'fr'],
  ])('does not render a message that was accepted with one: %o', async (pinned, missing) => {
    await expect(NO_LIBRARY.load(template, pinned)).rejects.toMatchObject({
      code: 'template_error',
      message: expect.stringContaining(missing),
    })
  })
})
