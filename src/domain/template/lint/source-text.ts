import { childrenOf, type Token } from '../parse.ts'
import { MAX_BODY_LENGTH } from '../write.ts'

/** A text with every section once, whatever the values, and its tags in place of values. */
export function sourceText(tokens: readonly Token[]): string {
  let text = ''

  function write(level: readonly Token[]): void {
    for (const token of level) {
      if (text.length >= MAX_BODY_LENGTH) return
      const [type, name] = token
      if (type === 'text') text += name
      else if (type === 'name') text += `{{${name}}}`
      else if (type === '&') text += `{{{${name}}}}`
      else write(childrenOf(token))
    }
  }

  write(tokens)
  return text.slice(0, MAX_BODY_LENGTH)
}
