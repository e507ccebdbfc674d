import * as z from 'zod'
import { PERMISSIONS, type Permission } from '../api-key.ts'
import { instant, text } from './fields.ts'

/** What creates an API key. */
export interface NewApiKey {
  readonly name: string
  readonly permission: Permission
  /** Epoch milliseconds; absent or null: never expires. */
  readonly expiresAt?: number | null | undefined
  /** Addresses and CIDR blocks; their form is judged where they are compiled. */
  readonly allowedIps?: readonly string[] | undefined
}

/** The schema of {@link NewApiKey}; times as ISO 8601 or Date. */
export const apiKeyInput: z.ZodType<
  NewApiKey,
  {
    name: string
    permission: Permission
    expiresAt?: string | Date | null | undefined
    allowedIps?: readonly string[] | undefined
  }
> = z.object({
  name: text(1, 200).describe('To tell keys apart.'),
  permission: z.enum(PERMISSIONS).describe('`Read Only`, `Write` or `Full Access`.'),
  expiresAt: instant.nullish().describe('ISO 8601, in the future; left out, the key never expires.'),
  allowedIps: z
    .array(z.string().min(1).max(64))
    .max(100)
    .optional()
    .describe('Addresses and CIDR blocks that may use the key; left out, any may.'),
})
