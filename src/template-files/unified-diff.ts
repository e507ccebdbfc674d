import { finish } from '../core/loop/steps.ts'
import { type DiffHunk, diffSteps } from '../core/text/diff-lines.ts'
import { type Group, groupKey, groupsOf } from './pull.ts'
import type { TextChange } from './push.ts'
import type { TemplateFiles } from './texts.ts'
import { filesOf } from './write.ts'

/** The lines of a unified diff of the files of changed texts, as `patch` reads it. */
export function unifiedDiff(
  older: TemplateFiles,
  newer: TemplateFiles,
  changes: readonly TextChange[],
): readonly string[] {
  const [before, after] = [groupsOf(filesOf(older)), groupsOf(filesOf(newer))]
  return changes.flatMap(({ kind, name }) => {
    const key = groupKey(kind, name)
    return groupDiff(before.get(key), after.get(key))
  })
}

function groupDiff(before: Group | undefined, after: Group | undefined): string[] {
  const paths = new Set([...(before?.files.keys() ?? []), ...(after?.files.keys() ?? [])])
  return [...paths].flatMap((path) => fileDiff(path, before?.files.get(path), after?.files.get(path)))
}

function fileDiff(path: string, older: string | undefined, newer: string | undefined): string[] {
  if (older === newer) return []
  const budget = { lines: Number.POSITIVE_INFINITY, characters: Number.POSITIVE_INFINITY, complete: true }
  const hunks = finish(diffSteps(marked(older), marked(newer), budget))
  return [
    `--- ${older === undefined ? '/dev/null' : `a/${path}`}`,
    `+++ ${newer === undefined ? '/dev/null' : `b/${path}`}`,
    ...hunks.flatMap(linesOf),
  ]
}

const UNENDED = '\0'

/** Lines without their last end; where it is missing, the last line says so. */
function marked(text = ''): string {
  if (text === '') return ''
  return text.endsWith('\n') ? text.slice(0, -1) : `${text}${UNENDED}`
}

const SIGNS = { same: ' ', removed: '-', added: '+' } as const

function linesOf({ from, to, lines }: DiffHunk): string[] {
  const count = (other: 'removed' | 'added'): number => lines.filter(({ kind }) => kind !== other).length
  // Of a text without lines, the place is before its first.
  const place = (at: number, size: number): string => `${size === 0 ? at - 1 : at},${size}`
  return [
    `@@ -${place(from, count('added'))} +${place(to, count('removed'))} @@`,
    ...lines.flatMap(({ kind, text }) => {
      const line = `${SIGNS[kind]}${text}`
      return line.endsWith(UNENDED)
        ? [line.slice(0, -UNENDED.length), '\\ No newline at end of file']
        : [line]
    }),
  ]
}
