import { childrenOf, type Token } from '../../core/text/parse.ts'

/**
 * A text with every section once, regardless of the values, and its tags in place of values.
 *
 * @param most maximum number of characters
 */
export function sourceText(tokens: readonly Token[], most: number): string {
  let text = ''

  function write(level: readonly Token[]): void {
    for (const token of level) {
      if (text.length >= most) return
      const [type, name] = token
      if (type === 'text') text += name
      else if (type === 'name') text += `{{${name}}}`
      else if (type === '&') text += `{{{${name}}}}`
      else write(childrenOf(token))
    }
  }

  write(tokens)
  return text.slice(0, most)
}
