import { LANGUAGE_NAMES, messageKey } from './language.ts'
import { tagsIn } from './parse.ts'

/** What sources need besides their variables. */
export interface Uses {
  /** The names of their partials, without duplicates. */
  readonly partials: readonly string[]
  /** The keys of their messages, without duplicates. */
  readonly keys: readonly string[]
  /** True: they have messages, or name their language. */
  readonly localized: boolean
}

export function usesIn(sources: readonly (string | null | undefined)[]): Uses {
  const partials = new Set<string>()
  const keys = new Set<string>()
  let localized = false
  for (const source of sources) {
    for (const tag of tagsIn(source ?? '', { field: 'text', owner: 'template' })) {
      const [type, name] = tag
      if (type === '>') partials.add(name)
      const key = messageKey(tag)
      if (key !== null) keys.add(key)
      localized ||= key !== null || LANGUAGE_NAMES.includes(name)
    }
  }
  return { partials: [...partials], keys: [...keys], localized }
}
