import type { KeyLookups } from './access/verify-key.ts'
import type { Kinds } from './channels/kinds.ts'
import type { ProviderRegistry } from './channels/provider-registry.ts'
import type { DueHandler } from './due/due-records.ts'
import type { Notifications } from './notification/api.ts'
import type { Clock } from './ports/clock.ts'
import type { Storage } from './ports/storage/storage.ts'
import type { IdGenerator } from './records/ids.ts'
import type { RecordKind } from './records/record-kind.ts'
import type { RecordStores } from './records/record-stores.ts'
import type { PerTenant } from './tenancy/per-tenant.ts'
import type { OrganizationFinder } from './tenancy/plan-of.ts'

/** What features are made of. */
export interface FeatureCore {
  readonly stores: RecordStores
  readonly storage: Storage
  readonly ids: IdGenerator
  readonly clock: Clock
  readonly kinds: Kinds
  readonly registry: ProviderRegistry
  readonly organizations: OrganizationFinder
  readonly keys: KeyLookups
  readonly notifications: PerTenant<Pick<Notifications, 'get'>>
  /** Called when stored work may be due. @param lane default: any */
  wake(lane?: string): void
}

/** Records of no organization that are of no use after a time. */
export interface Expiring {
  readonly kind: RecordKind
  readonly olderThanMs: number
}

/** A feature of any type. */
export interface AnyFeature {
  readonly name: string
  readonly expiring?: readonly Expiring[]
  create(core: never): object
  /** What is done with its records when they fall due. */
  due?(core: Pick<FeatureCore, 'storage' | 'clock'>): readonly DueHandler[]
}

/**
 * A part of the service that the core does not know by name.
 *
 * `Api`: its methods, in groups; those of organizations under `tenants`. Features may share a group. Its routes are in
 * src/routes.ts, which only what serves HTTP loads.
 */
export interface Feature<Api extends object, Core = FeatureCore> extends AnyFeature {
  /** Called once for a notifier. */
  create(core: Core): Api
}

/** Of a union: the intersection. */
type All<Union> = (Union extends unknown ? (each: Union) => void : never) extends (all: infer Whole) => void
  ? Whole
  : never

type Creators<List extends readonly AnyFeature[]> = List[number]['create']

/** The groups of all features. */
export function createFeatures<List extends readonly AnyFeature[]>(
  features: List,
  core: All<Parameters<Creators<List>>[0]>,
): All<ReturnType<Creators<List>>> {
  const apis = features.map(({ create }): object => create(core as never))
  return apis.reduce(joined) as All<ReturnType<Creators<List>>>
}

/** One object with the groups of both. */
export function joined<One extends object, Other extends object>(one: One, other: Other): One & Other {
  const groups = one as Readonly<Record<string, object>>
  const members = Object.entries<object>(other as Readonly<Record<string, object>>).map(([name, member]) => {
    const present = groups[name]
    if (present === undefined) return [name, member]
    if (typeof present === 'function') throw new Error(`Two features have the method "${name}".`)
    return [name, joined(present, member)]
  })
  return { ...one, ...Object.fromEntries(members) }
}
