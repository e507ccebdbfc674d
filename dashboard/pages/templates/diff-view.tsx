import { type DiffLine, diffSteps } from '../../../src/domain/diff-lines.ts'
import { finish } from '../../../src/domain/steps.ts'
import { texts } from '../../texts/index.ts'
import { type Draft, SIDES, type Sides } from './template.ts'

const said = texts.templates
/** Lines that are shown around a difference. */
const AROUND = 3
const SIGNS = { same: ' ', removed: '-', added: '+' } as const

/** What differs between two texts of a template, side by side of the template, line by line. */
export function DiffView({
  older,
  newer,
}: {
  readonly older: Sides & Partial<Draft>
  readonly newer: Sides & Partial<Draft>
}) {
  const fields = (['name', 'description', ...SIDES] as const).filter(
    (field) => (older[field] ?? '') !== (newer[field] ?? ''),
  )
  if (fields.length === 0) return <p class="muted">{said.noDifference}</p>
  return (
    <>
      {fields.map((field) => (
        <section key={field} class="diff" aria-label={said.fields[field]}>
          <h3>{said.fields[field]}</h3>
          <pre>
            {shortened(finish(diffSteps(older[field] ?? '', newer[field] ?? ''))).map((line, at) =>
              typeof line === 'number' ? (
                <span key={at} class="skipped">
                  {said.unchanged(line)}
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

/** Numbers stand for so many lines that are the same. */
function shortened(lines: readonly DiffLine[]): (DiffLine | number)[] {
  const near = new Set<number>()
  for (const [at, { kind }] of lines.entries()) {
    if (kind === 'same') continue
    for (let other = at - AROUND; other <= at + AROUND; other += 1) near.add(other)
  }
  const shown: (DiffLine | number)[] = []
  for (const [at, line] of lines.entries()) {
    const last = shown.at(-1)
    if (near.has(at)) shown.push(line)
    else if (typeof last === 'number') shown[shown.length - 1] = last + 1
    else shown.push(1)
  }
  return shown
}
