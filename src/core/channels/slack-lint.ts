import * as z from 'zod'
import { expectedValue } from '../input/expected-value.ts'
import type { JsonFields } from '../input/json-fields.ts'
import type { ChannelLint } from './channel-kind.ts'
import type { LintFault } from './lint.ts'

/** Limits of Slack's reference of blocks (docs.slack.dev, "Block Kit"). */
const MAX_ID = 255
const MAX_URL = 3_000

const some = (most: number) => z.string().min(1).max(most)
const plainText = (most: number) => z.looseObject({ type: z.literal('plain_text'), text: some(most) })
const anyText = (most: number) => z.looseObject({ type: z.enum(['plain_text', 'mrkdwn']), text: some(most) })
const list = <Item extends z.ZodType>(item: Item, most: number) => z.array(item).min(1).max(most)

const image = z
  .looseObject({ alt_text: some(2_000), image_url: some(MAX_URL).optional() })
  .refine(({ image_url, slack_file }) => image_url !== undefined || slack_file !== undefined, {
    path: ['image_url'],
    message: 'must be given, or "slack_file"',
  })

const button = z.looseObject({
  text: plainText(75),
  action_id: some(MAX_ID).optional(),
  url: some(MAX_URL).optional(),
  value: some(2_000).optional(),
  style: z.enum(['primary', 'danger']).optional(),
})

const element = z
  .looseObject({ type: z.string() })
  .check(
    ({ value, issues }) => void issues.push(...issuesOf(value.type === 'button' ? button : anything, value)),
  )

const contextElement = z
  .looseObject({ type: z.enum(['image', 'plain_text', 'mrkdwn']) })
  .check(
    ({ value, issues }) =>
      void issues.push(...issuesOf(value.type === 'image' ? image : anyText(3_000), value)),
  )

const anything = z.looseObject({})

/** The blocks that Slack takes. Those without rules are checked by Slack alone. */
const BLOCKS: Readonly<Record<string, z.ZodType>> = {
  actions: z.looseObject({ elements: list(element, 25) }),
  context: z.looseObject({ elements: list(contextElement, 10) }),
  divider: anything,
  header: z.looseObject({ text: plainText(150) }),
  image: z.intersection(image, z.looseObject({ title: plainText(2_000).optional() })),
  markdown: z.looseObject({ text: some(12_000) }),
  section: z
    .looseObject({
      text: anyText(3_000).optional(),
      fields: list(anyText(2_000), 10).optional(),
      accessory: element.optional(),
    })
    .refine(({ text, fields }) => text !== undefined || fields !== undefined, {
      path: ['text'],
      message: 'must be given, or "fields"',
    }),
  ...Object.fromEntries(
    [
      ...['alert', 'call', 'card', 'carousel', 'container', 'context_actions', 'data_table', 'file', 'input'],
      ...['plan', 'rich_text', 'table', 'task_card', 'video'],
    ].map((type) => [type, anything]),
  ),
}

function issuesOf(schema: z.ZodType, value: unknown): z.core.$ZodRawIssue[] {
  const { error } = schema.safeParse(value, { error: expectedValue })
  return (error?.issues ?? []).map(({ path, message }) => ({
    code: 'custom',
    input: value,
    path: [...path],
    message,
  }))
}

type Block = Readonly<Record<string, unknown>>

/** Rules for Slack messages. */
export const slackLint: ChannelLint<{ readonly blocks?: readonly JsonFields[] | undefined }> = {
  rules: {
    invalid_block: { severity: 'error', finds: 'a block that Slack refuses, in the parts given to the lint' },
    unknown_block: { severity: 'warning', finds: 'a block of a type that Slack does not document' },
  },
  *find({ parts }) {
    const ids = new Set<unknown>()
    for (const [index, block] of ((parts?.blocks ?? []) as readonly Block[]).entries()) {
      const field = `slack.blocks[${index}]`
      yield* blockFaults(block, field)
      const id = block.block_id
      if (id !== undefined && ids.has(id))
        yield invalid(`${field}.block_id`, 'must be unique: another block has the same')
      ids.add(id)
      // A block may have a hundred thousand characters.
      yield undefined
    }
  },
}

function* blockFaults(block: Block, field: string): Generator<LintFault> {
  const { type } = block
  if (typeof type !== 'string') {
    yield invalid(`${field}.type`, 'must be the type of a block, such as "section"')
    return
  }
  const schema = Object.hasOwn(BLOCKS, type) ? BLOCKS[type] : undefined
  if (schema === undefined) {
    yield {
      rule: 'unknown_block',
      field: `${field}.type`,
      message: `Slack documents no block of the type "${type.slice(0, 100)}". Correct the type: an unknown one is refused.`,
    }
    return
  }
  const known = z.intersection(schema, z.looseObject({ block_id: some(MAX_ID).optional() }))
  for (const { path, message } of known.safeParse(block, { error: expectedValue }).error?.issues ?? [])
    yield invalid([field, ...path].reduce<string>(joined, ''), message)
}

function joined(before: string, key: PropertyKey): string {
  if (before === '') return String(key)
  return typeof key === 'number' ? `${before}[${key}]` : `${before}.${String(key)}`
}

function invalid(field: string, fault: string): LintFault {
  return { rule: 'invalid_block', field, message: `Slack refuses "${field}": ${fault}.` }
}
