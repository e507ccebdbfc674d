import { isDeepStrictEqual } from 'node:util'
import type { AuditTargetKind } from './actions.ts'

export type AuditScalar = string | number | boolean | null

/** A field that was changed. */
export interface AuditedField {
  readonly field: string
  /** Absent: there was none, or the field is of a kind whose values the log never holds. */
  readonly before?: AuditScalar | undefined
  /** As `before`. */
  readonly after?: AuditScalar | undefined
}

/** Fields whose values an entry may hold. Texts, addresses and secrets never are among them. */
const SHOWN: { readonly [Kind in AuditTargetKind]?: readonly string[] } = {
  api_key: ['name', 'permission', 'grants', 'expiresAt', 'replacedBy'],
  operator_key: ['name', 'permission', 'grants', 'expiresAt', 'replacedBy'],
  organization: ['name', 'plan', 'retention', 'locale', 'timeZone', 'smsCountries'],
  template: ['name', 'channel', 'layout', 'locale', 'category', 'version'],
  layout: ['name', 'version'],
  partial: ['name', 'version'],
  messages: ['version'],
  webhook: ['events', 'successStatus', 'status'],
  category: ['name', 'required'],
  suppression: ['channel', 'reason'],
}

/** What follows from other fields, and what is no setting. */
const DERIVED = new Set([
  'id',
  'organizationId',
  'createdAt',
  'updatedAt',
  'chosenAt',
  'uses',
  'localized',
  'edit',
  'basedOn',
  'pin',
  'prefix',
  'last4',
  'hash',
  'secrets',
  'lastUsedAt',
  'givenExpiresAt',
  'purgeAt',
  'role',
])

const MOST_FIELDS = 40
const MAX_TEXT = 200

/** The fields in which two values differ, those of a new one with `before` empty. */
export function changedFields(kind: AuditTargetKind, before: object, after: object): readonly AuditedField[] {
  const [old, now] = [new Map(Object.entries(before)), new Map(Object.entries(after))]
  const fields = [...new Set([...old.keys(), ...now.keys()])].filter(
    (field) =>
      !DERIVED.has(field) && !isDeepStrictEqual(settingOf(old.get(field)), settingOf(now.get(field))),
  )
  const shown = new Set(SHOWN[kind])
  return fields.slice(0, MOST_FIELDS).map((field) => {
    const name = field.slice(0, MAX_TEXT)
    if (!shown.has(field)) return { field: name }
    return {
      field: name,
      ...(old.has(field) ? { before: scalarOf(old.get(field)) } : {}),
      ...(now.has(field) ? { after: scalarOf(now.get(field)) } : {}),
    }
  })
}

/** An empty list is as good as none. */
function settingOf(value: unknown): unknown {
  return Array.isArray(value) && value.length === 0 ? null : (value ?? null)
}

function scalarOf(given: unknown): AuditScalar {
  const value = settingOf(given)
  if (typeof value === 'number' || typeof value === 'boolean') return value
  if (typeof value === 'string') return value.slice(0, MAX_TEXT)
  if (value === null || value === undefined) return null
  return (Array.isArray(value) ? value.map(String).join(', ') : JSON.stringify(value)).slice(0, MAX_TEXT)
}
