import type { RecordKind } from '../../src/core/records/record-kind.ts'

/** Records that all processes change. */
export const RECORDS = 3

export interface Profile {
  readonly name: string
  /** Number of changes by the name of the process. */
  readonly counts: Readonly<Record<string, number>>
  /** Since version 2. */
  readonly label?: string | undefined
  /** How often its stored value was of an older version. */
  readonly upgrades?: number
  /** Since version 3. */
  readonly tags?: readonly string[]
}

/** A kind of record as each release has it. */
export function kindOf(version: 1 | 2 | 3): RecordKind<Profile> {
  return {
    name: 'profiles',
    version,
    key: ({ name }, organizationId) => `${organizationId}\n${name}`,
    ...(version > 1 && { upgrade: (value, from) => upgraded(value as Profile, from, version) }),
  }
}

function upgraded(value: Profile, from: number, to: number): Profile {
  const { name, upgrades = 0 } = value
  const labelled = { ...value, upgrades: upgrades + 1, label: from < 2 ? `label of ${name}` : value.label }
  return to < 3 ? labelled : { ...labelled, tags: [`tag of ${name}`] }
}
