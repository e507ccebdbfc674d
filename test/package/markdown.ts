import { readFile } from 'node:fs/promises'
import { fromRoot } from '../../scripts/entries.mjs'

export interface CodeBlock {
  /** For messages: the file and the line where the block begins. */
  readonly at: string
  readonly code: string
}

/** The fenced code blocks of one language in a Markdown file of the repository. */
export async function codeBlocks(file: string, language: string): Promise<CodeBlock[]> {
  const text = await readFile(fromRoot(file), 'utf8')
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)]
    .filter(([, name]) => name === language)
    .map(({ 2: code = '', index }) => ({ code, at: `${file}:${text.slice(0, index).split('\n').length}` }))
}

/** The relative links of a Markdown file, without their fragments. */
export async function links(file: string): Promise<string[]> {
  const text = await readFile(fromRoot(file), 'utf8')
  const prose = text.replace(/^```[\s\S]*?^```$/gm, '')
  return [...prose.matchAll(/\]\(([^)\s]+)\)/g)]
    .map(([, target = '']) => target.replace(/#.*$/, ''))
    .filter((target) => target !== '' && !/^[a-z]+:/.test(target))
}
