import { NotifierError } from '../errors/notifier-error.ts'
import { listedNames, shortName } from '../input/listed-names.ts'
import { nearestName } from '../input/nearest-name.ts'
import { type Category, DEFAULT_CATEGORY, plainCategory } from './category.ts'

/** The template that names a category. Null: the message does. */
export type NamedBy = { readonly name: string } | null

/** The categories of messages, as sends and deliveries ask for them. */
export interface CategorySource {
  /** The category of messages without one. */
  readonly default: Category
  /**
   * The category with an id or a former one. At once if it is known.
   *
   * @param template that names it
   * @throws NotifierError `unknown_category` (422), which names near ones
   */
  existing(organizationId: string, id: string, template?: NamedBy): Category | Promise<Category>
  /** Those with ids or former ones, in order, in at most one query. Null: unknown. */
  findAll(organizationId: string, ids: readonly string[]): Promise<readonly (Category | null)[]>
  /** The category of a stored notification; a deleted one is known by its id only. Null: the default one. */
  ofStored(organizationId: string, id: string | null): Category | Promise<Category>
  /** All of an organization. */
  all(organizationId: string): Promise<readonly Category[]>
}

const PLAIN = plainCategory(DEFAULT_CATEGORY)

/** Where no feature has categories, no message can name one. */
export const NO_CATEGORIES: CategorySource = {
  default: PLAIN,
  async existing(_organizationId, id, template) {
    throw unknownCategory(id, [], undefined, template)
  },
  findAll: async (_organizationId, ids) => ids.map(() => null),
  ofStored: (_organizationId, id) => (id === null ? PLAIN : plainCategory(id)),
  all: async () => [],
}

/**
 * @param known all categories, so that the message can name near ones
 * @param template that names the category; null: none does
 */
export function unknownCategory(
  id: string,
  known: readonly Category[],
  field = 'category',
  template: NamedBy = null,
): NotifierError {
  const names = known.map(({ id }) => id)
  const near = nearestName(id, names)
  const others = names.filter((name) => name !== DEFAULT_CATEGORY)
  const hint = near === null ? ` Known: ${listedNames(names)}.` : ` Did you mean "${near}"?`
  const namedBy = template === null ? '' : `, which the template "${template.name}" names`
  return new NotifierError('unknown_category', {
    message: `There is no category "${shortName(id)}"${namedBy}.${others.length === 0 ? ' None is declared.' : hint}`,
    details: { field, category: shortName(id), ...(near === null ? {} : { nearest: near }) },
  })
}
