import { randomUUID } from 'node:crypto'
import { lstat, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { fileError } from './file-error.ts'

/** A text may have half a mebi of characters, of at most three bytes each, and its front matter. */
const MAX_BYTES = 4 * 1024 * 1024
/** Files of a folder. */
const MAX_FILES = 20_000

const FOLDERS = ['layouts', 'messages', 'partials']

/**
 * Reads the files of a folder and of its `layouts`, `partials` and `messages`, by path with slashes. Files of Markdown and
 * those whose names begin with a dot are left out; links are refused.
 *
 * @throws NotifierError `invalid_parameter`, which names the file
 */
export async function readFolder(folder: string): Promise<ReadonlyMap<string, string>> {
  const files = new Map<string, string>()
  for (const path of await pathsIn(folder)) files.set(path, await readText(folder, path))
  return files
}

async function pathsIn(folder: string): Promise<string[]> {
  const paths: string[] = []
  for (const below of ['', ...FOLDERS]) {
    const entries = (await entriesOf(folder, below)).filter(({ name }) => !/^\.|\.md$/.test(name))
    for (const entry of entries) {
      if (below === '' && entry.isDirectory() && FOLDERS.includes(entry.name)) continue
      const path = below === '' ? entry.name : `${below}/${entry.name}`
      if (!entry.isFile()) throw fileError(path, NO_FILE)
      paths.push(path)
    }
  }
  if (paths.length > MAX_FILES) throw fileError(folder, `The folder has more than ${MAX_FILES} files.`)
  return paths.sort()
}

const NO_FILE =
  'It is a link or another folder. Put files only into the folder, layouts, partials and messages.'

async function entriesOf(folder: string, below: string) {
  try {
    return await readdir(join(folder, below), { withFileTypes: true })
  } catch (error) {
    if (below !== '' && (error as NodeJS.ErrnoException).code === 'ENOENT') return []
    throw fileError(below === '' ? folder : below, 'The folder cannot be read.', undefined, error)
  }
}

async function readText(folder: string, path: string): Promise<string> {
  const full = join(folder, path)
  const { size } = await lstat(full)
  if (size > MAX_BYTES) throw fileError(path, `It has more than ${MAX_BYTES} bytes. Shorten it.`)
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(await readFile(full))
  } catch (error) {
    throw fileError(path, 'It cannot be read as UTF-8.', undefined, error)
  }
}

/** Writes a file as a whole: a reader gets the old or the new one. A link with its name is replaced. */
export async function writeText(folder: string, path: string, text: string): Promise<void> {
  const full = join(folder, path)
  await mkdir(dirname(full), { recursive: true })
  const beside = join(dirname(full), `.${randomUUID()}.tmp`)
  try {
    await writeFile(beside, text, { flag: 'wx' })
    await rename(beside, full)
  } catch (error) {
    await rm(beside, { force: true })
    throw fileError(path, 'It cannot be written.', undefined, error)
  }
}

export async function removeText(folder: string, path: string): Promise<void> {
  await rm(join(folder, path), { force: true })
}
