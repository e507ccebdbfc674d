import { describe, expect, it } from 'vitest'
import { createProcessor } from '../../../../src/core/loop/processor.ts'
import type { TemplateSource } from '../../../../src/core/text/compile.ts'
import { compileTemplate } from '../../../../src/core/text/compile.ts'
import { insertVersion, versionKind } from '../../../../src/core/text/kind.ts'
import type { Template } from '../../../../src/core/text/template.ts'
import { compiledOver } from '../../../support/compiled.ts'
import { inMemory } from '../../../support/in-memory.ts'
import { kindOf } from '../../../support/kinds.ts'
import { watchReads } from '../../../support/record-reads.ts'

const MiB = 1024 * 1024

/** Some templates in a storage that counts what is read of them. */
async function open(count: number, body: string) {
  const storage = inMemory()
  await storage.start({ kinds: [versionKind] })
  const reads = watchReads(storage, versionKind)
  const organizationId = 'org_default'
  const written = {
    channel: 'email',
    subject: null,
    body,
    format: null,
    text: null,
    description: null,
    category: null,
  }
  const values = Array.from({ length: count }, (_, index) => {
    return { ...written, name: `template-${index}`, version: 1, updatedAt: 0 }
  })
  await storage.records.write([
    values.map((value, index) =>
      insertVersion(`tpl_${index}`, organizationId, value, { type: 'code', id: 'code', name: null }),
    ),
  ])
  const templates: Template[] = values.map((value, index) => {
    return { ...value, id: `tpl_${index}`, organizationId, createdAt: 0 }
  })
  // Each look at this clock takes longer than a turn may.
  let now = 0
  const processor = createProcessor({ monotonic: () => (now += 10) })
  return {
    compiled: compiledOver(storage, processor),
    templates,
    reads: () => reads.length,
  }
}

const source = (body: string): TemplateSource => ({ subject: null, body, format: null })

describe('templates that are kept compiled', () => {
  it('are thousands of the usual size', async () => {
    const { compiled, templates, reads } = await open(3_000, 'Hello {{name}}, '.repeat(20))
    for (const template of templates) compiled.of(template)
    for (const { id, version } of templates) await compiled.load({ id, version })
    expect(reads()).toBe(0)
  })

  it('take no more than 64 MiB: those that were used longest ago are read again', async () => {
    const body = '{{a}} '.repeat(2_000)
    const fit = Math.floor((64 * MiB) / compileTemplate(kindOf('email'), source(body)).size)
    const { compiled, templates, reads } = await open(fit + 1, body)
    for (const template of templates) compiled.of(template)
    for (const { id, version } of templates.slice(1)) await compiled.load({ id, version })
    expect(reads()).toBe(0)
    expect((await compiled.load({ id: 'tpl_0', version: 1 })).render({ a: 'x' }).body).toContain('x x')
    expect(reads()).toBe(1)
  })

  it('are given to all who load them at once, however few fit', async () => {
    const body = '{{a}} '.repeat(2_000)
    const { compiled, templates } = await open(200, body)
    const loaded = await Promise.all(templates.map(({ id, version }) => compiled.load({ id, version })))
    for (const template of loaded) expect(template.render({ a: 'x' }).body).toHaveLength(4_000)
  })

  it.each(['load', 'prepare'] as const)('let the event loop turn between two of them: %s', async (way) => {
    const { compiled, templates } = await open(20, '{{a}} '.repeat(10))
    let turns = 0
    let ended = false
    const count = (): void => {
      turns += 1
      if (!ended) setImmediate(count)
    }
    setImmediate(count)
    await Promise.all(templates.map((template) => compiled[way](template)))
    ended = true
    expect(turns).toBeGreaterThanOrEqual(templates.length - 1)
  })

  it('know their size by their tags and their text', () => {
    expect(compileTemplate(kindOf('email'), source('{{a}}'.repeat(2_000))).size).toBeGreaterThan(MiB / 5)
    expect(compileTemplate(kindOf('email'), source('x'.repeat(50_000))).size).toBeLessThan(MiB / 8)
  })

  it('are missing where there is no such version', async () => {
    const { compiled } = await open(1, 'Hello')
    await expect(compiled.load({ id: 'tpl_0', version: 2 })).rejects.toMatchObject({
      code: 'template_error',
      message: 'Version 2 of template tpl_0 is missing.',
    })
  })
})
