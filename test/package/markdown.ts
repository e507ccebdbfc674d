import { readFile } from 'node:fs/promises'
import { fromRoot } from '../../scripts/entries.mjs'

export interface CodeBlock {
  /** For messages: the file and the line where the block begins. */
  readonly at: string
  /** The file that its first line names, as in `// name.ts`; otherwise its line, as in `12.ts`. */
  readonly name: string
  readonly named: boolean
  readonly code: string
}

/** The fenced code blocks of one language in a Markdown file of the repository. */
export async function codeBlocks(file: string, language: string): Promise<CodeBlock[]> {
  const text = await readFile(fromRoot(file), 'utf8')
  return [...text.matchAll(/^```(\w*)\n([\s\S]*?)^```$/gm)]
    .filter(([, name]) => name === language)
    .map(({ 2: code = '', index }) => {
      const line = text.slice(0, index).split('\n').length
      const [, name] = /^\/\/ (\S+\.[jt]sx?)\n/.exec(code) ?? []
      return { code, at: `${file}:${line}`, name: name ?? `${line}.${language}`, named: name !== undefined }
    })
}

/** The blocks of a language that name their file. */
export async function namedBlocks(file: string, language = 'ts'): Promise<CodeBlock[]> {
  return (await codeBlocks(file, language)).filter(({ named }) => named)
}

/** The relative links of a Markdown file, with their fragments. */
export async function links(file: string): Promise<string[]> {
  const found = [...(await prose(file)).matchAll(/\]\(([^)\s]+)\)/g)]
  return found.map(([, target = '']) => target).filter((target) => !/^[a-z]+:/.test(target))
}

/** The fragments under which GitHub shows the headings of a Markdown file. */
export async function anchors(file: string): Promise<string[]> {
  const headings = [...(await prose(file)).matchAll(/^#+ (.*)$/gm)]
  return headings.map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-'),
  )
}

async function prose(file: string): Promise<string> {
  return (await readFile(fromRoot(file), 'utf8')).replace(/^```[\s\S]*?^```$/gm, '')
}
