import { type SecretValue, secretKind } from '../access/secrets.ts'
import type { RecordInsert } from '../ports/storage/records.ts'
import { digest } from '../records/digest.ts'
import type { RecordKind } from '../records/record-kind.ts'

interface CheckValue {
  readonly check: string
}

/** Apart from the pepper, so that a backup without secrets does not lose both unnoticed. */
export const checkKind: RecordKind<CheckValue> = {
  name: 'pepper_checks',
  version: 1,
  notPersonal: 'a check of the service',
}

/** Of both records. */
export const PEPPER_ID = 'pepper'

/** Stores a pepper. */
export function pepperWrites(secret: string): readonly [RecordInsert<SecretValue>, RecordInsert<CheckValue>] {
  const of = { do: 'insert', id: PEPPER_ID, organizationId: null } as const
  return [
    { ...of, kind: secretKind, value: { secret } },
    { ...of, kind: checkKind, value: { check: checkOf(secret) } },
  ]
}

export function checkOf(secret: string): string {
  return digest(`${secret}\ncheck`)
}
