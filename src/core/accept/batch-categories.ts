import { NotifierError } from '../errors/notifier-error.ts'
import type { Category } from '../notification/category.ts'
import { type CategorySource, type NamedBy, unknownCategory } from '../notification/category-source.ts'

/** Messages of a batch whose unknown category is compared with the known ones: there may be ten thousand. */
const MOST_COMPARED = 100

/** The categories of a batch. */
export interface BatchCategories {
  /** Looks up what is not known yet, in one query. */
  prepare(ids: readonly (string | null | undefined)[]): Promise<void>
  /**
   * A prepared category. Null: the default one.
   *
   * @param template that names the category
   * @throws NotifierError `unknown_category`
   */
  of(id: string | null, template?: NamedBy): Category
}

export function createBatchCategories(source: CategorySource, organizationId: string): BatchCategories {
  const known = new Map<string, Category | null>()
  let all: readonly Category[] = []
  let unknown = 0
  return {
    async prepare(ids) {
      const news = [...new Set(ids)].filter((id): id is string => typeof id === 'string' && !known.has(id))
      if (news.length === 0) return
      const found = await source.findAll(organizationId, news)
      for (const [at, id] of news.entries()) known.set(id, found[at] ?? null)
      if (found.includes(null)) all = await source.all(organizationId)
    },
    of(id, template) {
      if (id === null) return source.default
      const category = known.get(id)
      if (category) return category
      unknown += 1
      if (unknown > MOST_COMPARED) throw new NotifierError('unknown_category')
      throw unknownCategory(id, all, undefined, template)
    },
  }
}
