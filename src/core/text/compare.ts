import type { Steps } from '../loop/steps.ts'
import { type DiffHunk, diffBudget, diffSteps } from './diff-lines.ts'
import { shownText } from './message-text.ts'
import type { TemplateComparison } from './model.ts'
import type { Template } from './template.ts'
import { shownVariants } from './variants.ts'

/** Compares two versions of a template, field by field, within one budget. */
export function* compareSteps(older: Template, newer: Template): Steps<TemplateComparison> {
  const [before, after] = [fieldsOf(older), fieldsOf(newer)]
  const budget = diffBudget()
  const fields: { field: string; hunks: readonly DiffHunk[] }[] = []
  for (const field of new Set([...before.keys(), ...after.keys()])) {
    const [was, is] = [before.get(field) ?? '', after.get(field) ?? '']
    if (was !== is) fields.push({ field, hunks: yield* diffSteps(was, is, budget) })
  }
  return { id: newer.id, from: older.version, to: newer.version, fields, complete: budget.complete }
}

/** The fields that have a text. */
function fieldsOf(template: Template): ReadonlyMap<string, string> {
  const { subject, layout, locale, metadata, locales } = template
  const own = { subject, ...shownText(template), layout, locale }
  const pairs: (readonly [string, string | null | undefined])[] = Object.entries(own)
  for (const [name, value] of Object.entries(metadata ?? {})) pairs.push([`metadata.${name}`, value])
  for (const [name, variant] of Object.entries(shownVariants(locales)))
    for (const [field, value] of Object.entries<string | null>({ ...variant }))
      pairs.push([`locales.${name}.${field}`, value])
  return new Map(pairs.flatMap(([field, value]) => (value == null ? [] : [[field, value]])))
}
