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

/** The TypeScript blocks that name their file in the first line: `// name.ts`. */
export async function namedBlocks(file: string): Promise<{ readonly name: string; readonly code: string }[]> {
  return (await codeBlocks(file, 'ts')).flatMap(({ code }) => {
    const [, name] = /^\/\/ (\S+\.ts)$/m.exec(code.slice(0, code.indexOf('\n'))) ?? []
    return name === undefined ? [] : [{ name, code }]
  })
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
