import * as z from 'zod'
import type { CategoryRecord } from '../../core/notification/category.ts'
import { quietHours } from '../../core/notification/quiet-hours.ts'
import { named } from '../../core/rest/named.ts'
import { timestamp } from '../../core/rest/schemas.ts'

/** A category in responses. */
export const categoryRecord: z.ZodType<CategoryRecord> = named(
  'Category',
  z.object({
    id: z.string(),
    name: z.string(),
    description: z.string().nullable(),
    required: z
      .boolean()
      .describe(
        'True: its messages go whatever people prefer, but never past a bounce, a complaint or a STOP.',
      ),
    default: z
      .record(z.string(), z.boolean())
      .describe('Whether its messages go without a preference, by channel; `*` stands for all others.'),
    listId: z.string().nullable().describe('Value of the header List-Id of its mails.'),
    from: z.string().nullable().describe('Sender of its mails that name none.'),
    formerIds: z.array(z.string()).describe('Earlier ids, which still name it.'),
    quietHours: quietHours
      .nullable()
      .describe('When its messages wait, unless the person or the organization decides. Null: never.'),
    source: z
      .enum(['code', 'stored'])
      .describe('`code`: declared by the application for all organizations; it cannot be changed here.'),
    version: z.int().min(1).nullable().describe('Rises with every change. Null: declared in code.'),
    createdAt: timestamp.nullable().describe('Null: declared in code.'),
    updatedAt: timestamp.nullable().describe('Null: declared in code.'),
  }),
)

/** All categories of an organization. */
export const categoryList: z.ZodType<{ readonly items: readonly CategoryRecord[] }> = named(
  'CategoryList',
  z.object({
    items: z.array(categoryRecord).describe('Those in code first, then the stored ones, newest first.'),
  }),
)
