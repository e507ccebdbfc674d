import type { NotifierError } from '../../core/errors/notifier-error.ts'
import { type Category, indexCategories, plainCategory } from '../../core/notification/category.ts'
import {
  type CategorySource,
  type NamedBy,
  unknownCategory,
} from '../../core/notification/category-source.ts'
import type { Clock } from '../../core/ports/clock.ts'
import type { RecordStores } from '../../core/records/record-stores.ts'
import type { CodeCategories } from './options.ts'
import { categoryKind, storedCategories } from './records.ts'

/** Finds the categories of an organization: those in code, and the stored ones. Caches the stored ones for seconds. */
export interface CategoryFinder extends CategorySource {
  /** The categories in code. */
  readonly code: CodeCategories
  /** The category with an id or a former one. Null: none. At once for a category in code. */
  find(organizationId: string, id: string): Category | null | Promise<Category | null>
  /** All, those in code first, each in order of its id. */
  all(organizationId: string): Promise<readonly Category[]>
  /** Removes an organization from the cache, after a change of its categories. */
  forget(organizationId: string): void
}

/** How long other processes may use outdated categories. */
const FRESH_MS = 5_000
const MOST_KNOWN = 10_000

interface Known {
  readonly categories: readonly Category[]
  readonly byId: ReadonlyMap<string, Category>
  readonly until: number
}

export function createCategoryFinder(
  stores: RecordStores,
  code: CodeCategories,
  clock: Pick<Clock, 'monotonic'>,
): CategoryFinder {
  const store = stores.of(categoryKind)
  const known = new Map<string, Known>()
  let changes = 0

  async function load(organizationId: string): Promise<Known> {
    const before = changes
    const stored = await storedCategories(store, organizationId)
    const categories = stored.filter(({ id }) => !code.byId.has(id)).sort(byId)
    const found = { categories, byId: indexCategories(categories), until: clock.monotonic() + FRESH_MS }
    // A result read before a change must not enter the cache after it.
    if (changes !== before) return found
    if (known.size >= MOST_KNOWN) known.clear()
    known.set(organizationId, found)
    return found
  }

  function fresh(organizationId: string): Known | undefined {
    const found = known.get(organizationId)
    return found !== undefined && found.until > clock.monotonic() ? found : undefined
  }

  async function findStored(organizationId: string, id: string): Promise<Category | null> {
    const cached = fresh(organizationId)?.byId.get(id)
    // Another process may have created it since.
    return cached ?? (await load(organizationId)).byId.get(id) ?? null
  }

  function find(organizationId: string, id: string): Category | null | Promise<Category | null> {
    return code.byId.get(id) ?? fresh(organizationId)?.byId.get(id) ?? findStored(organizationId, id)
  }

  async function findAll(
    organizationId: string,
    ids: readonly string[],
  ): Promise<readonly (Category | null)[]> {
    const cached = fresh(organizationId)
    const found = ids.map((id) => code.byId.get(id) ?? cached?.byId.get(id) ?? null)
    if (!found.includes(null)) return found
    const { byId } = await load(organizationId)
    return ids.map((id, at) => found[at] ?? byId.get(id) ?? null)
  }

  async function all(organizationId: string): Promise<readonly Category[]> {
    const { categories } = fresh(organizationId) ?? (await load(organizationId))
    return [...code.categories, ...categories]
  }

  async function assertFound(
    organizationId: string,
    id: string,
    found: Promise<Category | null>,
    template: NamedBy | undefined,
  ): Promise<Category> {
    return (await found) ?? raise(unknownCategory(id, await all(organizationId), undefined, template))
  }

  return {
    default: code.default,
    code,
    find,
    findAll,
    ofStored(organizationId, id) {
      if (id === null) return code.default
      const found = find(organizationId, id)
      return found instanceof Promise
        ? found.then((category) => category ?? plainCategory(id))
        : (found ?? plainCategory(id))
    },
    existing(organizationId, id, template) {
      const found = find(organizationId, id)
      return found instanceof Promise || found === null
        ? assertFound(organizationId, id, Promise.resolve(found), template)
        : found
    },
    all,
    forget(organizationId) {
      changes += 1
      known.delete(organizationId)
    },
  }
}

function byId({ id: one }: Category, { id: other }: Category): number {
  if (one === other) return 0
  return one < other ? -1 : 1
}

function raise(error: NotifierError): never {
  throw error
}
