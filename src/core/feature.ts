import { type Complete, inTurn } from './accept/complete.ts'
import type { TellRefused } from './accept/refused.ts'
import type { KeyLookups } from './access/verify-key.ts'
import type { Audit } from './audit/audit.ts'
import type { Kinds } from './channels/kinds.ts'
import type { ProviderRegistry } from './channels/provider-registry.ts'
import type { ProviderHealth } from './delivery/model.ts'
import type { UploadContents } from './delivery/upload-contents.ts'
import type { DueHandler } from './due/due-records.ts'
import type { Judge, NamedJudge } from './gate/verdict.ts'
import type { Tracker } from './links/tracking.ts'
import type { Notifications } from './notification/api.ts'
import type { CategorySource } from './notification/category-source.ts'
import type { RecordFact } from './notification/own-facts.ts'
import type { PeopleFinder } from './people/finder.ts'
import type { PersonHashes } from './people/person-hashes.ts'
import type { PersonalRecords } from './people/personal-records.ts'
import type { Clock } from './ports/clock.ts'
import type { Storage } from './ports/storage/storage.ts'
import type { IdGenerator } from './records/ids.ts'
import type { RecordKind } from './records/record-kind.ts'
import type { RecordStores } from './records/record-stores.ts'
import type { Route } from './rest/route.ts'
import type { PerTenant } from './tenancy/per-tenant.ts'
import type { OrganizationFinder } from './tenancy/plan-of.ts'
import type { RetainedData } from './tenancy/retention.ts'

/** What features are made of. */
export interface FeatureCore {
  readonly audit: Audit
  readonly stores: RecordStores
  readonly storage: Storage
  readonly ids: IdGenerator
  readonly clock: Clock
  readonly hashes: PersonHashes
  readonly kinds: Kinds
  readonly registry: ProviderRegistry
  readonly organizations: OrganizationFinder
  readonly keys: KeyLookups
  readonly notifications: PerTenant<Pick<Notifications, 'get' | 'cancel'>>
  readonly recordFact: RecordFact
  /** The providers of this process, as it sees them. */
  providers(): readonly ProviderHealth[]
  /** Called when stored work may be due. @param lane default: any */
  wake(lane?: string): void
  /** What another feature shares. @throws Error if that one does not come before in the list of features */
  use<Shared>(feature: Sharing<Shared>): Shared
}

/** A feature by what it shares. */
export interface Sharing<Shared> {
  readonly name: string
  create(core: never): { readonly shared: Shared }
}

/** Records of no organization that are removed after a time. */
export interface Expiring {
  readonly kind: RecordKind
  /** A kind of data of the option `retention`, or a time that no option changes. */
  readonly after: RetainedData | { readonly ms: number }
  /** Whether organizations have records of it, too. Default false. */
  readonly ofOrganizations?: boolean
}

/** Methods of an organization that also take `ALL_ORGANIZATIONS`. */
export interface TogetherOf<Api> {
  readonly together: PerTenant<Api>
}

/** A feature of any type. */
export interface AnyFeature {
  readonly name: string
  create(core: never): FeatureParts
}

/** What the core asks one feature for. Undefined: it has none. */
export interface Sources {
  /** The categories of messages. */
  readonly categories?: CategorySource | undefined
  /** The application's people. */
  readonly people?: PeopleFinder | undefined
  /** Makes opens and clicks known. */
  readonly tracker?: Tracker | undefined
  /** The contents of uploads. */
  readonly uploads?: UploadContents | undefined
}

/** What a feature brings to a notifier. */
export interface FeatureParts<Api extends object = object, Shared = unknown> extends Sources {
  /**
   * Its methods, in groups; those of organizations under `tenants`, and those of them that also work for all organizations
   * together under `together`. Features may share a group.
   */
  readonly api: Api
  /** What other features may use. */
  readonly shared?: Shared
  /** Says of each message whether it may go. Of two features that refuse or skip it, the first in the list decides. */
  readonly judge?: Judge
  /** Fills messages in before they are validated. Each gets what those before it in the list have made. */
  readonly complete?: Complete
  /** What is done with its records when they fall due. */
  readonly due?: readonly DueHandler[]
  readonly expiring?: readonly Expiring[]
  /** Removes data of an organization that is older than its `logDays`. */
  readonly expire?: (organizationId: string, olderThanMs: number) => Promise<void>
  /** Told of messages that were refused. */
  readonly refused?: TellRefused
  /** Stores what is left in memory, at the stop of the notifier. */
  readonly close?: () => Promise<void>
  /** What erasure and export do with its records of a person. */
  readonly personal?: readonly PersonalRecords[]
  /** Operations of the REST API that are not in src/routes.ts. */
  readonly routes?: readonly Route<object>[]
}

/**
 * A part of the service that the core does not know by name. Its routes are in src/routes.ts, which only what serves HTTP
 * loads.
 */
export interface Feature<Api extends object, Core = FeatureCore, Shared = undefined> extends AnyFeature {
  /** Called once for a notifier. */
  create(
    core: Core,
  ): FeatureParts<Api, Shared> & ([Shared] extends [undefined] ? unknown : { readonly shared: Shared })
}

/** Of a union: the intersection. */
type All<Union> = (Union extends unknown ? (each: Union) => void : never) extends (all: infer Whole) => void
  ? Whole
  : never

type Created<List extends readonly AnyFeature[]> = List[number]['create']

/** The features of a notifier as one. */
export interface Features<Api> extends Sources {
  readonly api: Api
  /** In order of precedence. */
  readonly judges: readonly NamedJudge[]
  /** Of all features as one. Undefined: there is none. */
  readonly complete: Complete | undefined
  readonly due: readonly DueHandler[]
  readonly expiring: readonly Expiring[]
  readonly expire: (organizationId: string, olderThanMs: number) => Promise<void>
  readonly refused: TellRefused
  readonly close: () => Promise<void>
  readonly personal: readonly PersonalRecords[]
  readonly routes: readonly Route<object>[]
}

/** @param features each after those that it uses */
export function createFeatures<List extends readonly AnyFeature[]>(
  features: List,
  core: Omit<All<Parameters<Created<List>>[0]>, 'use'>,
): Features<All<ReturnType<Created<List>>['api']>> {
  const made = new Map<string, FeatureParts>()
  function use<Shared>({ name }: Sharing<Shared>): Shared {
    const parts = made.get(name)
    if (parts === undefined)
      throw new Error(`The feature "${name}" must come earlier in the list of features.`)
    return parts.shared as Shared
  }
  for (const { name, create } of features) {
    if (made.has(name)) throw new Error(`Two features are named "${name}".`)
    made.set(name, create({ ...core, use } as never))
  }
  const parts = [...made.values()]
  return {
    api: parts.map(({ api }) => api).reduce(joined, {}) as All<ReturnType<Created<List>>['api']>,
    judges: [...made].flatMap(([name, { judge }]) => (judge === undefined ? [] : { name, judge })),
    complete: inTurn(parts.flatMap(({ complete = [] }) => complete)),
    due: parts.flatMap(({ due = [] }) => due),
    routes: parts.flatMap(({ routes = [] }) => routes),
    expiring: parts.flatMap(({ expiring = [] }) => expiring),
    async expire(...what) {
      for (const each of parts) await each.expire?.(...what)
    },
    refused(message) {
      for (const each of parts) each.refused?.(message)
    },
    async close() {
      for (const each of parts) await each.close?.()
    },
    personal: parts.flatMap(({ personal = [] }) => personal),
    categories: theOnly('categories', parts),
    people: theOnly('people', parts),
    tracker: theOnly('tracker', parts),
    uploads: theOnly('uploads', parts),
  }
}

function theOnly<Name extends keyof Sources>(name: Name, parts: readonly FeatureParts[]): Sources[Name] {
  const [one, ...others] = parts.map((each) => each[name]).filter((source) => source !== undefined)
  if (others.length > 0) throw new Error(`Two features bring "${name}".`)
  return one
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
