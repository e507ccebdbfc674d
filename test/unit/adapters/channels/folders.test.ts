import { existsSync, globSync, readFileSync } from 'node:fs'
import { basename, dirname } from 'node:path'
import { expect, it } from 'vitest'
import { entries, fromRoot } from '../../../../scripts/entries.mjs'

interface About {
  readonly use: string
  readonly proof?: string
}

const folders = globSync('adapters/channels/*/send.ts', { cwd: fromRoot('.') }).map((file) => dirname(file))
const contracts = globSync('test/contract/*-provider*.test.ts', { cwd: fromRoot('.') })
  .map((file) => readFileSync(fromRoot(file), 'utf8'))
  .join('\n')
const published = new Map(entries().map(({ specifier, source }) => [specifier, source]))
const options = readFileSync(fromRoot('docs/reference/options.md'), 'utf8')

it.each(folders)('%s has its entry point, errors, receipts, contract and options', async (folder) => {
  expect(published.get(`carillon/${basename(folder)}`)).toBe(`${folder}/send.ts`)
  const about: readonly About[] = JSON.parse(readFileSync(fromRoot(`${folder}/about.json`), 'utf8'))
  const exported: Readonly<Record<string, unknown>> = await import(fromRoot(`${folder}/send.ts`))
  const made = Object.keys(exported).filter((name) => typeof exported[name] === 'function')
  expect(about.map(({ use }) => use).sort()).toEqual(made.sort())
  expect(existsSync(fromRoot(`${folder}/errors.ts`))).toBe(true)
  expect(existsSync(fromRoot(`${folder}/receipts.ts`))).toBe(about.some(({ proof }) => proof !== undefined))
  const exports = readFileSync(fromRoot(`${folder}/send.ts`), 'utf8').matchAll(
    /^export (?:type )?(?:interface |\{).*/gm,
  )
  const named = [...exports].flatMap(([line]) => line.match(/\b\w+Options\b/g) ?? [])
  const sources = globSync(`${folder}/*.ts`, { cwd: fromRoot('.') }).map((file) =>
    readFileSync(fromRoot(file), 'utf8'),
  )
  const interfaces = named.filter((name) => sources.some((source) => source.includes(`interface ${name} `)))
  expect(interfaces).not.toEqual([])
  expect(interfaces.filter((name) => !options.includes(`<!-- generated: ${name} -->`))).toEqual([])
  const tested = (name: string) =>
    new RegExp(`import .*\\b${name}\\b.*/${basename(folder)}/send\\.ts'`).test(contracts)
  expect(made.filter((name) => !tested(name))).toEqual([])
})
