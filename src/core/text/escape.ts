import { childrenOf, type Token } from './parse.ts'

const HTML: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
  '`': '&#96;',
  '=': '&#61;',
}

/** Escapes text for elements and for attribute values, quoted or not. */
export function escapeHtml(value: string): string {
  return value.replace(/[&<>"'`=]/g, (character) => HTML[character] ?? character)
}

/**
 * The literal text at the start of a source, without leading white space. Empty if it starts with a value. Ignores
 * comments and section tags.
 */
export function beginningOf(tokens: readonly Token[]): string {
  return beginning(tokens) ?? ''
}

/** Null: neither text nor a value. */
function beginning(tokens: readonly Token[]): string | null {
  for (const token of tokens) {
    const [type, name] = token
    if (type === 'name' || type === '&') return ''
    const found = type === 'text' ? name.trimStart() || null : beginning(childrenOf(token))
    if (found !== null) return found
  }
  return null
}
