import { brotliDecompressSync, gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { ASSETS, ENTRIES } from '../../src/dashboard/generated/assets.ts'

const LEVEL = 9

function sourceOf(name: string): Buffer {
  return brotliDecompressSync(Buffer.from(ASSETS[name]?.brotli ?? '', 'base64'))
}

/** A script and what it imports at once. */
function withImports(name: string, found = new Set<string>()): Set<string> {
  if (found.has(name)) return found
  found.add(name)
  for (const [, other = ''] of sourceOf(name)
    .toString()
    .matchAll(/(?:import|from)\s*"\.\/([^"]+\.js)"/g))
    withImports(other, found)
  return found
}

function gzipKilobytes(names: Iterable<string>): number {
  return [...names].reduce((sum, name) => sum + gzipSync(sourceOf(name), { level: LEVEL }).length, 0) / 1024
}

it('loads at most 60 KB at first, and at most 150 KB for the editor of templates', () => {
  const first = new Set([...withImports(ENTRIES.app.script), ENTRIES.app.style])
  const later = Object.keys(ASSETS).filter((name) => !first.has(name) && name !== ENTRIES.mailbox.script)
  expect(gzipKilobytes(first)).toBeLessThanOrEqual(60)
  const beginning = (start: string): string => later.find((name) => name.startsWith(start)) ?? ''
  const editor = [beginning('templates-'), beginning('code-editor-')]
  const ofEditor = new Set(editor.flatMap((name) => [...withImports(name)]))
  expect(gzipKilobytes([...ofEditor].filter((name) => !first.has(name)))).toBeLessThanOrEqual(150)
  // Every other page is small beside the first load.
  expect(gzipKilobytes(later.filter((name) => !ofEditor.has(name)))).toBeLessThanOrEqual(35)
})
