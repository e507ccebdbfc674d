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
 * The literal text that a source begins with, without white space before it; empty where a value comes first. Comments and
 * the tags of sections are no beginning.
 */
export function beginningOf(tokens: readonly Token[]): string {
  return beginning(tokens) ?? ''
}

/** Null where there is neither text nor a value. */
function beginning(tokens: readonly Token[]): string | null {
  for (const token of tokens) {
    const [type, name] = token
    if (type === 'name' || type === '&') return ''
    const found = type === 'text' ? name.trimStart() || null : beginning(childrenOf(token))
    if (found !== null) return found
  }
  return null
}
