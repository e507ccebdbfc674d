import { finish } from '../../../src/core/loop/steps.ts'
import { type DiffLine, diffBudget, diffSteps } from '../../../src/core/text/diff-lines.ts'
import { texts } from '../../texts/index.ts'

const said = texts.templates
const SIGNS = { same: ' ', removed: '-', added: '+' } as const

/** Texts by field. A field that is missing is empty. */
export type FieldTexts = Readonly<Record<string, string | undefined>>

/** What differs between two sets of texts, field by field and line by line. */
export function DiffView({
  older,
  newer,
  nameOf = said.fieldName,
}: {
  readonly older: FieldTexts
  readonly newer: FieldTexts
  /** Default: as in a template. */
  readonly nameOf?: ((field: string) => string) | undefined
}) {
  const fields = Object.keys({ ...older, ...newer }).filter(
    (field) => (older[field] ?? '') !== (newer[field] ?? ''),
  )
  if (fields.length === 0) return <p class="muted">{said.noDifference}</p>
  return (
    <>
      {fields.map((field) => (
        <section key={field} class="diff" aria-label={nameOf(field)}>
          <h3>{nameOf(field)}</h3>
          <pre>
            {shownLines(older[field] ?? '', newer[field] ?? '').map((line, at) =>
              line === null || typeof line === 'number' ? (
                <span key={at} class="skipped">
                  {line === null ? said.moreDifferences : said.unchanged(line)}
                </span>
              ) : (
                <Line key={at} line={line} />
              ),
            )}
          </pre>
        </section>
      ))}
    </>
  )
}

function Line({ line: { kind, text } }: { readonly line: DiffLine }) {
  const content = `${SIGNS[kind]} ${text}\n`
  if (kind === 'removed') return <del>{content}</del>
  return kind === 'added' ? <ins>{content}</ins> : <span>{content}</span>
}

/** Numbers stand for so many lines that are the same. Null: more differences than are shown. */
function shownLines(older: string, newer: string): (DiffLine | number | null)[] {
  const budget = diffBudget()
  const shown: (DiffLine | number | null)[] = []
  let next = 1
  for (const { from, lines } of finish(diffSteps(older, newer, budget))) {
    if (from > next) shown.push(from - next)
    for (const line of lines) shown.push(line)
    next = from + lines.filter(({ kind }) => kind !== 'added').length
  }
  if (!budget.complete) return [...shown, null]
  const left = older === '' ? 0 : older.split('\n').length + 1 - next
  return left > 0 ? [...shown, left] : shown
}
