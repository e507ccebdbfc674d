import * as z from 'zod'
import { named } from '../../core/rest/named.ts'
import type { LintFinding, TemplateLint } from './model.ts'

/** The faults of a template. */
export const templateLint: z.ZodType<
  Omit<TemplateLint, 'findings'> & { findings: readonly Omit<LintFinding, 'cause'>[] }
> = named(
  'TemplateLint',
  z.object({
    findings: z
      .array(
        z.object({
          rule: z
            .string()
            .describe('Its name never changes, such as `plain_http_link`. Channels may bring others.'),
          severity: z
            .enum(['error', 'warning'])
            .describe('`error`: messages are refused or broken. `warning`: people may see less.'),
          message: z.string().describe('What is wrong and what to do. The wording may change.'),
          field: z
            .string()
            .describe('A field of the template, `variables`, or a part such as `slack.blocks[0]`.'),
          locales: z.array(z.string()).describe('The locales in which it was found.'),
          source: z
            .object({ type: z.enum(['layout', 'partial']), name: z.string() })
            .optional()
            .describe('The layout or partial that has the text. Absent: the template, or unknown.'),
          line: z.int().min(1).optional().describe('The line of the text. Absent: unknown.'),
          excerpt: z.string().optional().describe('The text that breaks the rule, at most 120 characters.'),
        }),
      )
      .describe('At most 200.'),
    complete: z.boolean().describe('False: there may be more findings.'),
    locales: z.array(z.string()).describe('The locales that were checked. Empty: the text cannot be read.'),
  }),
)
