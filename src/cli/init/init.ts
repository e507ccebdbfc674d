import { existsSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Run } from '../command.ts'
import { configurationsIn } from '../connect.ts'
import { Exit, messageOf } from '../exit.ts'
import { confirm, note, print, styled } from '../terminal.ts'
import { type NewFile, type Program, programFor } from './programs.ts'
import { type PackageManager, type Project, projectIn } from './project.ts'

/** Writes new files only: none that exists changes. */
export const init: Run = async ({ terminal, flags }) => {
  const project = projectIn(terminal.cwd)
  const program = programFor(project)
  const { framework, typescript, esm, manager } = project
  note(
    terminal,
    `Found ${framework}, ${typescript ? 'TypeScript' : 'JavaScript'}, ${esm ? 'ES modules' : 'CommonJS'}, ${manager}.`,
  )
  const files = missing(project, program.files)
  const show = (file: NewFile): Promise<void> =>
    print(terminal, flags.on('json') ? JSON.stringify(file) : file.path)
  if (flags.on('dry-run')) {
    for (const file of files) {
      await show(file)
      if (!flags.on('json')) await print(terminal, file.text.replace(/^(?=.)/gm, '    '))
    }
    note(terminal, 'Nothing was written.')
    return undefined
  }
  if (files.length > 0) {
    const question = `Write ${files.map(({ path }) => path).join(', ')}?`
    await confirm(terminal, question, flags.on('yes'))
  }
  for (const file of files) {
    await write(project.folder, file)
    await show(file)
  }
  for (const [about, command] of steps(project, program))
    note(terminal, `\n${styled('bold', `${about}:`, terminal.stderr)}\n${command}`)
  return undefined
}

/** Files that are not there yet. @throws Exit `refused` if others have their names */
function missing({ folder }: Project, files: readonly NewFile[]): NewFile[] {
  const has = ({ path }: NewFile): boolean => existsSync(join(folder, path))
  const planned = files.map(({ path }) => path)
  const existing = [
    ...configurationsIn(folder).filter((name) => !planned.includes(name)),
    ...files
      .filter((file) => has(file) && readFileSync(join(folder, file.path), 'utf8') !== file.text)
      .map(({ path }) => path),
  ]
  if (existing.length === 0) return files.filter((file) => !has(file))
  const message = `There is already ${existing.join(', ')}, and init changes no file. Nothing was written. Move it away, and run init again.`
  throw new Exit('refused', message)
}

async function write(folder: string, { path, text }: NewFile): Promise<void> {
  const file = join(folder, path)
  try {
    await mkdir(dirname(file), { recursive: true })
    // One that appeared meanwhile stays.
    await writeFile(file, text, { flag: 'wx' })
  } catch (cause) {
    throw new Exit('failed', `${path} cannot be written: ${messageOf(cause)}`, cause)
  }
}

const ADD: Readonly<Record<PackageManager, string>> = {
  npm: 'npm install',
  pnpm: 'pnpm add',
  yarn: 'yarn add',
  bun: 'bun add',
}
/** "yarn run" also prints its own lines, which are no part of a key. */
const RUN: Readonly<Record<PackageManager, string>> = {
  npm: 'npx',
  pnpm: 'pnpm exec',
  yarn: 'npx',
  bun: 'bunx',
}

/** The next steps, with commands to copy. */
function steps(
  { packages, manager }: Project,
  program: Program,
): readonly (readonly [about: string, command: string])[] {
  const absent = ['carillon', ...program.packages].filter((name) => !packages.has(name))
  const run = RUN[manager]
  return [
    ...(absent.length === 0 ? [] : [['Install', `${ADD[manager]} ${absent.join(' ')}`] as const]),
    ['Run', program.run.binary ? `${run} ${program.run.command}` : program.run.command],
    [
      'Make a key in another terminal, which also signs in to http://localhost:3000/dashboard',
      `export CARILLON_API_KEY=$(${run} carillon keys create First --permission 'Full Access' --grant content)`,
    ],
    [
      'Send a mail, and read it at http://localhost:3000/mailbox',
      `curl http://localhost:3000/notifications/v1/notify -H "Authorization: Bearer $CARILLON_API_KEY" -H 'Content-Type: application/json' -d '{"channel":"email","to":"ada@example.com","subject":"Hello","text":"Hi Ada"}'`,
    ],
  ]
}
