import * as z from 'zod'
import { GRANTS, type Grant, PERMISSIONS, type Permission } from '../../core/access/permissions.ts'
import { instant, overlap, text } from '../../core/input/fields.ts'
import { namedInput } from '../../core/rest/named.ts'

/** Input for a new API key. */
export interface ApiKeyInput {
  /** 1 to 200 characters. */
  readonly name: string
  readonly permission: Permission
  /** `content` allows reading the text of messages. Default: none. */
  readonly grants?: readonly Grant[] | undefined
  /** ISO 8601 or a Date, in the future. Default: never. */
  readonly expiresAt?: string | Date | null | undefined
  /** Addresses and CIDR blocks, IPv4 or IPv6, that may use the key; at most 100. Default: any. */
  readonly allowedIps?: readonly string[] | undefined
}

/** How long the old key keeps working after the new one exists. */
export const keyRotation: z.ZodObject<{ overlapMs: z.ZodDefault<z.ZodInt> }> = namedInput(
  'ApiKeyRotationRequest',
  z.object({
    overlapMs: overlap(
      'How long the old key works on, in milliseconds; 0: it stops at once. Default: a day.',
    ),
  }),
)

/** A parsed {@link ApiKeyInput}; the addresses are checked when they are compiled. */
interface ParsedApiKey extends Omit<ApiKeyInput, 'expiresAt'> {
  /** Epoch milliseconds. */
  readonly expiresAt?: number | null | undefined
}

export const apiKeyInput: z.ZodType<ParsedApiKey, ApiKeyInput> = namedInput(
  'ApiKeyRequest',
  z.object({
    name: text(1, 200).describe('To tell keys apart.'),
    permission: z.enum(PERMISSIONS).describe('`Read Only`, `Write` or `Full Access`.'),
    grants: z
      .array(z.enum(GRANTS))
      .max(GRANTS.length)
      .optional()
      .describe('`content` allows reading the text of messages. A key can give only grants that it has.'),
    expiresAt: instant.nullish().describe('ISO 8601, in the future. Default: never.'),
    allowedIps: z
      .array(z.string().min(1).max(64))
      .max(100)
      .optional()
      .describe('Addresses and CIDR blocks that may use the key. Default: any.'),
  }),
)
