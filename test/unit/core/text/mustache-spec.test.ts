import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { compileTemplate } from '../../../../src/core/text/compile.ts'
import type { SharedSource } from '../../../../src/core/text/shared-text.ts'
import { kindOf } from '../../../support/kinds.ts'

interface SpecCase {
  readonly name: string
  readonly desc: string
  readonly data: Record<string, unknown>
  readonly template: string
  readonly expected: string
  readonly partials?: Readonly<Record<string, string>>
}

const SUITES = ['comments', 'delimiters', 'interpolation', 'inverted', 'partials', 'sections'] as const

const casesOf = (suite: string): readonly SpecCase[] =>
  JSON.parse(readFileSync(new URL(`../../../fixtures/mustache-spec/${suite}.json`, import.meta.url), 'utf8'))
    .tests

/** Cases that Carillon refuses on purpose, with the code. */
const REFUSED: Readonly<Record<string, string>> = {
  // A missing partial is a mistake that a recipient should not see.
  'partials: Failed Lookup': 'invalid_template',
  // Values could repeat a partial without an end: cycles are refused when they are written.
  'partials: Recursion': 'invalid_template',
}
/** Delimiters cannot be changed: a source then means the same wherever it is inserted. */
const refusalOf = (suite: string, { name, template, partials = {} }: SpecCase): string | undefined =>
  [template, ...Object.values(partials)].some((source) => source.includes('{{='))
    ? 'invalid_parameter'
    : REFUSED[`${suite}: ${name}`]

function rendered({ template, data, partials = {} }: SpecCase): string {
  const shared = new Map<string, SharedSource>(
    Object.entries(partials).map(([name, html]) => [name, { html, text: null }]),
  )
  return compileTemplate(
    kindOf('email'),
    { subject: null, body: template, format: 'html' },
    { layout: null, partials: shared },
  ).render(data).body
}

describe.each(SUITES)('the published cases of mustache: %s', (suite) => {
  it.each(casesOf(suite).map((each) => [each.name, each] as const))('%s', (_, each) => {
    const refusal = refusalOf(suite, each)
    if (refusal === undefined) expect(rendered(each)).toBe(each.expected)
    else expect(() => rendered(each)).toThrow(expect.objectContaining({ code: refusal }))
  })
})
