import type { Kinds } from '../../core/channels/kinds.ts'
import { jsonObject } from '../../core/input/fields.ts'
import { parseInput } from '../../core/input/parse.ts'
import type { RecordReads } from '../../core/records/record-stores.ts'
import type { CodeTemplate, CodeTemplates } from '../../core/text/code-templates.ts'
import { compileTemplate } from '../../core/text/compile.ts'
import { ANY_LANGUAGE } from '../../core/text/language.ts'
import type { Library } from '../../core/text/library.ts'
import { inVariant, type Template } from '../../core/text/template.ts'
import { type CodeDefinition, checked } from './options.ts'
import { toTemplate } from './template.ts'
import { readValues } from './values.ts'
import { withHtml } from './with-html.ts'
import { createWrite, type WriteServices } from './write.ts'

/** Nothing stored: organizations without the layout or partial would have no text. */
const NO_RECORDS: RecordReads = { get: async (_, refs) => refs.map(() => null) }

export function createCodeTemplates(
  definitions: readonly CodeDefinition[],
  library: Pick<Library, 'find'>,
  kinds: Kinds,
  services: WriteServices,
): CodeTemplates {
  const write = createWrite(services)
  const { markup, clock, bounds } = services
  const known = new Map(definitions.map((definition) => [definition.name, entryOf(definition)]))

  function entryOf(definition: CodeDefinition): CodeTemplate {
    const { name, channel, variables, example, stored = false } = definition
    const template = toTemplate(definition)
    return {
      name,
      channel,
      stored,
      isMustache: [definition.subject, definition.html, definition.text].every(
        (text) => typeof text !== 'function',
      ),
      example,
      of: (organizationId) => ({ ...template, organizationId }),
      values: async (given, sensitive) =>
        variables === undefined ? given : readValues(name, variables, given, sensitive, clock),
      write: (whole, values, options) => write(definition, whole, values, options),
    }
  }

  async function assertExample({ example, values }: CodeTemplate): Promise<void> {
    if (example !== undefined) await values(parseInput(jsonObject, example, 'example'), false)
  }

  async function assertWhole(template: Template): Promise<void> {
    const { sources } = await library.find(template, NO_RECORDS)
    for (const locale of [undefined, ...Object.keys(template.locales ?? {})])
      compileTemplate(kinds.of(template.channel), inVariant(template, locale), sources, ANY_LANGUAGE, bounds)
  }

  return {
    names: definitions.map(({ name }) => name),
    find: (name) => (name === undefined ? null : (known.get(name) ?? null)),
    async open() {
      for (const definition of definitions) {
        const { name, stored } = definition
        const option = `templates.${name}`
        await checked(`${option}.example`, () => assertExample(entryOf(definition)), {})
        if (stored === true) continue
        await checked(
          option,
          async () => {
            const entry = entryOf(await withHtml(definition, markup, bounds))
            await assertWhole(entry.of(''))
            known.set(name, entry)
          },
          definition,
        )
      }
    },
  }
}
