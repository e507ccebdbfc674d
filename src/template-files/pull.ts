import { readFolder, removeText, writeText } from './folder.ts'
import type { Step, SyncOptions, TextChange, TextKind } from './push.ts'
import { assertReadable } from './read.ts'
import { storedTexts, type TemplateTarget } from './target.ts'
import { filesOf } from './write.ts'

/** The files of one text, by path. */
export interface Group {
  readonly kind: TextKind
  readonly name: string
  readonly files: Map<string, string>
}

/**
 * Writes the stored texts into a folder, so that a push of it changes nothing. Files that are right stay as they are; other
 * files of the same text are removed.
 *
 * @param folder is created if it does not exist
 * @returns the changes, or with `dryRun` those that it would make; `changes` are the names of files
 * @throws NotifierError `invalid_parameter` for a folder with links or unreadable files; those of the notifier
 *
 * @example
 * const changes = await pullTemplates(notifier, 'templates')
 * for (const { action, kind, name } of changes) console.log(action, kind, name)
 */
export async function pullTemplates(
  target: TemplateTarget,
  folder: string,
  options: SyncOptions = {},
): Promise<readonly TextChange[]> {
  const steps = await pullSteps(target, folder, options)
  if (options.dryRun !== true) for (const step of steps) await step.run()
  return steps.map(({ kind, name, action, changes }) => ({ kind, name, action, changes }))
}

export async function pullSteps(
  target: TemplateTarget,
  folder: string,
  options: SyncOptions,
): Promise<readonly Step[]> {
  const files = filesOf(await storedTexts(target))
  for (const path of files.keys()) assertReadable(path)
  const wanted = groupsOf(files)
  const found = groupsOf(await existing(folder))
  const steps = [...wanted].map(([key, group]) => stepOf(folder, group, found.get(key)))
  const others = options.delete === true ? [...found].filter(([key]) => !wanted.has(key)) : []
  return [...steps, ...others.map(([, group]) => stepOf(folder, { ...group, files: new Map() }, group))]
}

async function existing(folder: string): Promise<ReadonlyMap<string, string>> {
  try {
    return await readFolder(folder)
  } catch (error) {
    const { cause } = error as { readonly cause?: NodeJS.ErrnoException }
    if (cause?.code === 'ENOENT') return new Map()
    throw error
  }
}

function stepOf(folder: string, { kind, name, files }: Group, before: Group | undefined): Step {
  const old = before?.files ?? new Map<string, string>()
  const written = [...files].filter(([path, text]) => old.get(path) !== text)
  const removed = [...old.keys()].filter((path) => !files.has(path))
  const changes = [...written.map(([path]) => path), ...removed]
  const run = async () => {
    for (const [path, text] of written) await writeText(folder, path, text)
    for (const path of removed) await removeText(folder, path)
  }
  return { kind, name, action: actionOf(old.size, files.size, changes.length), changes, run }
}

function actionOf(before: number, after: number, changes: number): TextChange['action'] {
  if (before === 0) return 'create'
  if (after === 0) return 'delete'
  return changes === 0 ? 'unchanged' : 'update'
}

const FOLDERS: Readonly<Record<string, TextKind>> = {
  layouts: 'layout',
  partials: 'partial',
  messages: 'messages',
}

/** By kind and name. */
export function groupsOf(files: ReadonlyMap<string, string>): ReadonlyMap<string, Group> {
  const groups = new Map<string, Group>()
  for (const [path, text] of files) {
    const [, folder = '', name = ''] = /^(?:(layouts|partials|messages)\/)?([^.]*)/.exec(path) ?? []
    const kind = FOLDERS[folder] ?? 'template'
    const key = groupKey(kind, name)
    const group = groups.get(key) ?? { kind, name, files: new Map() }
    group.files.set(path, text)
    groups.set(key, group)
  }
  return groups
}

export function groupKey(kind: TextKind, name: string): string {
  return `${kind}\n${name}`
}
