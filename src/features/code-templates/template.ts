import { storedText } from '../../core/text/message-text.ts'
import type { Template } from '../../core/text/template.ts'
import { usesOfAll } from '../../core/text/variants.ts'
import { type CodeDefinition, mustacheOf, type VariantSources } from './options.ts'

/** Where no body is mustache. */
const NO_TEXT = { body: '', format: 'text', text: null } as const

/** The mustache texts of a definition as a template, which its name identifies. */
export function toTemplate(definition: CodeDefinition): Omit<Template, 'organizationId'> {
  const { name, channel, layout, locale, category, metadata, messages, locales = {} } = definition
  const variants = Object.entries(locales).map(([each, variant]) => [each, textOf(variant)])
  const written = {
    ...textOf(mustacheOf(definition)),
    locales: variants.length === 0 ? undefined : Object.fromEntries(variants),
  }
  const { uses, localized } = usesOfAll(written)
  return {
    id: name,
    name,
    channel,
    ...written,
    uses,
    localized: messages === true || localized,
    layout,
    locale,
    description: null,
    metadata,
    category,
    version: 1,
    createdAt: 0,
    updatedAt: 0,
  }
}

function textOf({ subject, html, text }: VariantSources) {
  return { subject: subject ?? null, ...(storedText({ html, text }) ?? NO_TEXT) }
}
