import * as z from 'zod'
import { GRANTS, PERMISSIONS } from '../../core/access/permissions.ts'
import type { ApiKeyRecord } from '../../core/access/verify-key.ts'
import type { List } from '../../core/records/list.ts'
import { named } from '../../core/rest/named.ts'
import { listOf, timestamp } from '../../core/rest/schemas.ts'
import type { CreatedApiKey } from './model.ts'

const fields = {
  id: z.string().regex(/^key_[\w-]+$/),
  organizationId: z.string(),
  name: z.string(),
  permission: z.enum(PERMISSIONS),
  grants: z
    .array(z.enum(GRANTS))
    .describe('Grants beside the permission: `content` allows reading the text of messages.'),
  hint: z.string().describe('First and last characters of the secret, for recognition.'),
  expiresAt: timestamp.nullable().describe('Null: never.'),
  allowedIps: z.array(z.string()).describe('Empty: any address.'),
  createdAt: timestamp,
  lastUsedAt: timestamp.nullable().describe('Time of the last use, accurate to a few minutes; null: never.'),
  replacedBy: z
    .string()
    .nullable()
    .describe('Id of the key that a rotation made in its place; null: it is not being rotated.'),
}

/** An API key: everything but the secret. */
export const apiKeyRecord: z.ZodType<ApiKeyRecord> = named('ApiKey', z.object(fields))

export const createdApiKey: z.ZodType<CreatedApiKey> = named(
  'CreatedApiKey',
  z.object({
    ...fields,
    secret: z.string().describe('The key itself. Shown once, stored only as a hash.'),
  }),
)

export const apiKeyList: z.ZodType<List<ApiKeyRecord>> = named('ApiKeyList', listOf(apiKeyRecord))
