import { type Demand, share } from './share.ts'

/** Divides the slots of one claim among organizations, also over several divisions. */
export interface SlotDivider {
  /** True: the organization may have a slot. */
  permits(organization: string): boolean
  /** Divides slots as evenly as possible, among equals in this order. */
  divide(slots: number, organizations: readonly string[]): Division
  /** Uses slots. */
  use(organization: string, slots: number): void
  /** True: there is a slot for every job of these organizations. */
  hold(organizations: readonly string[]): boolean
}

export interface Division {
  /** Number of slots for each organization, in order. */
  readonly shares: readonly number[]
  /** The organization with the last slot. Null: none may have any. */
  readonly last: string | null
}

/** @param shared the rule of `SharedSlots`. Undefined: slots are divided evenly */
export function createSlotDivider(
  shared:
    | {
        readonly empty: number
        readonly used: ReadonlyMap<string, number>
        readonly exempt: string | null
      }
    | undefined,
): SlotDivider {
  const inUse = new Map(shared?.used)
  let empty = shared?.empty ?? null
  const used = (organization: string): number => inUse.get(organization) ?? 0
  const demandOf = (owner: string, most: number): Demand => ({
    most,
    used: used(owner),
    owner,
    exempt: owner === shared?.exempt,
  })
  return {
    permits: (organization) =>
      empty === null || organization === shared?.exempt || used(organization) < empty,
    divide(slots, organizations) {
      const demands = organizations.map((owner) => demandOf(owner, slots))
      const shares = share(slots, demands, inUse, 0, empty)
      let last: string | null = null
      let most = 0
      for (const [index, { owner, used }] of demands.entries()) {
        const got = shares[index] ?? 0
        if (got === 0 || used + got < most) continue
        most = used + got
        last = owner
      }
      return { shares, last }
    },
    hold(organizations) {
      if (empty === null || organizations.every((organization) => organization === shared?.exempt))
        return true
      const counts = new Map<string, number>()
      for (const organization of organizations) counts.set(organization, (counts.get(organization) ?? 0) + 1)
      const demands = [...counts].map(([owner, most]) => demandOf(owner, most))
      const shares = share(organizations.length, demands, inUse, 0, empty)
      return shares.every((got, index) => got === demands[index]?.most)
    },
    use(organization, slots) {
      if (empty === null) return
      empty -= slots
      inUse.set(organization, used(organization) + slots)
    },
  }
}
