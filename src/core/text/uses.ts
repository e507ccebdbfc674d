import { LANGUAGE_NAMES, messageKey } from './language.ts'
import { scan } from './parse.ts'

/** What sources need beside their variables. */
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
    if (source == null || !source.includes('{{')) continue
    for (const token of scan(source, { field: 'text', owner: 'template' })) {
      const [type, name] = token
      if (type === '>') partials.add(name)
      const key = messageKey(token)
      if (key !== null) keys.add(key)
      localized ||= key !== null || (type !== 'text' && LANGUAGE_NAMES.includes(name))
    }
  }
  return { partials: [...partials], keys: [...keys], localized }
}
