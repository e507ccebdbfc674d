import type { Kinds } from '../../core/channels/kinds.ts'
import { invalidOption } from '../../core/errors/invalid-option.ts'
import { isNotifierError } from '../../core/errors/notifier-error.ts'
import { parseInput } from '../../core/input/parse.ts'
import { type Category, DEFAULT_CATEGORY, indexCategories } from '../../core/notification/category.ts'
import { type CategorySettings, categoriesOption, categoryFault, categoryOf } from './input.ts'

/** The categories that the application declares in code. They apply to all organizations. */
export interface CodeCategories {
  readonly categories: readonly Category[]
  /** By id and by former ids. */
  readonly byId: ReadonlyMap<string, Category>
  /** The category of messages without one. It always exists. */
  readonly default: Category
  /** Whether the application declares that one. */
  readonly namesDefault: boolean
}

/** Pages name it in their language. */
const DEFAULT_SETTINGS: CategorySettings = { name: 'General' }

/**
 * The option `categories`.
 *
 * @throws NotifierError `invalid_configuration`
 */
export function resolveCategories(
  option: Readonly<Record<string, CategorySettings>> | undefined,
  { known }: Pick<Kinds, 'known'>,
): CodeCategories {
  const given = parsed(option ?? {})
  const others = Object.entries(given).filter(([id]) => id !== DEFAULT_CATEGORY)
  const first = categoryOf(DEFAULT_CATEGORY, given[DEFAULT_CATEGORY] ?? DEFAULT_SETTINGS)
  const categories = [first, ...others.map(([id, settings]) => categoryOf(id, settings))]
  assertDistinct(categories)
  for (const category of categories) assertSound(category, known)
  return {
    categories,
    byId: indexCategories(categories),
    default: first,
    namesDefault: given[DEFAULT_CATEGORY] !== undefined,
  }
}

function parsed(option: unknown): Readonly<Record<string, CategorySettings>> {
  try {
    return parseInput(categoriesOption, option, 'categories')
  } catch (error) {
    if (!isNotifierError(error)) throw error
    const field = String(error.details?.field ?? '')
    const name = field === 'categories' ? field : `categories.${field}`
    throw invalidOption(name, `The option "${name}": ${error.message}`)
  }
}

function assertSound(category: Category, channels: ReadonlyMap<string, unknown>): void {
  const fault = categoryFault(category, channels)
  if (fault === null) return
  const name = `categories.${category.id}.${fault.field}`
  throw invalidOption(name, `The option "${name}": ${fault.message}`)
}

/** An id or former id names one category. */
function assertDistinct(categories: readonly Category[]): void {
  const seen = new Set<string>()
  for (const { id, formerIds } of categories) {
    for (const name of [id, ...formerIds]) {
      if (seen.has(name)) {
        const message = `The option "categories": "${name}" is the id or a former id of two categories. Remove one.`
        throw invalidOption(`categories.${id}`, message)
      }
      seen.add(name)
    }
  }
}
