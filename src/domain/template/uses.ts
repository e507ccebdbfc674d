import { scan } from './parse.ts'

/** The names of the partials in sources, without duplicates. */
export function partialsIn(sources: readonly (string | null | undefined)[]): readonly string[] {
  const names = new Set<string>()
  for (const source of sources) {
    if (source == null || !source.includes('{{')) continue
    for (const [type, name] of scan(source, { field: 'text', owner: 'template' })) {
      if (type === '>') names.add(name)
    }
  }
  return [...names]
}
