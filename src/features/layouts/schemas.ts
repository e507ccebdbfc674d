import * as z from 'zod'
import type { List } from '../../core/records/list.ts'
import { named } from '../../core/rest/named.ts'
import { actor, listOf, timestamp } from '../../core/rest/schemas.ts'
import type { SharedTextRecord, SharedTextVersionRecord } from './model.ts'

const id = z.string().regex(/^(lay|part)_[\w-]+$/)
const sources = {
  html: z.string().nullable().describe('For HTML. Null: none.'),
  text: z.string().nullable().describe('For plain text and channels without HTML. Null: none.'),
}

/** A layout or partial in responses. */
export const sharedTextRecord: z.ZodType<SharedTextRecord> = named(
  'SharedText',
  z.object({
    id,
    name: z.string(),
    ...sources,
    description: z.string().nullable(),
    version: z.int().min(1),
    createdAt: timestamp,
    updatedAt: timestamp.describe('When the current version was made.'),
  }),
)

/** A version of a layout or partial in responses. */
export const sharedTextVersionRecord: z.ZodType<SharedTextVersionRecord> = named(
  'SharedTextVersion',
  z.object({
    id,
    version: z.int().min(1),
    name: z.string(),
    ...sources,
    author: actor.nullable().describe('Null: it is from before authors were kept.'),
    createdAt: timestamp.describe('Creation time of the version.'),
  }),
)

export const sharedTextList: z.ZodType<List<SharedTextRecord>> = named(
  'SharedTextList',
  listOf(sharedTextRecord),
)

export const sharedTextVersionList: z.ZodType<List<SharedTextVersionRecord>> = named(
  'SharedTextVersionList',
  listOf(sharedTextVersionRecord),
)
