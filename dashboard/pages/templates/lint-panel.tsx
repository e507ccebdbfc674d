import { texts } from '../../texts/index.ts'
import { Badge } from '../../ui/badge.tsx'
import type { Finding, LintState } from './use-lint.ts'

const said = texts.templates.lint

/** The faults of the edited text. */
export function LintPanel({
  state: { lint, error },
  told,
}: {
  readonly state: LintState
  /** What the preview says of the text already. */
  readonly told: string | undefined
}) {
  if (lint === null && error === null) return null
  const findings = lint?.findings.filter(({ message }) => message !== told) ?? []
  return (
    <section class="lint" aria-labelledby="lint-title">
      <h3 id="lint-title">{said.title}</h3>
      {error === null ? null : <p class="muted">{said.failed(error.message)}</p>}
      {lint === null ? null : findings.length === 0 ? (
        <p class="muted" role="status">
          {told === undefined ? (lint.complete ? said.none : said.incomplete) : null}
        </p>
      ) : (
        <ul class="warnings">
          {findings.map((finding) => (
            <li key={JSON.stringify(finding)}>
              <Badge tone={finding.severity === 'error' ? 'bad' : 'warn'}>
                {said.severities[finding.severity]}
              </Badge>
              <p>
                {finding.message} <span class="muted">{placeOf(finding)}</span>
              </p>
              {finding.excerpt === undefined ? null : <code class="long">{finding.excerpt}</code>}
            </li>
          ))}
        </ul>
      )}
    </section>
  )
}

function placeOf({ field, line, source, locales }: Finding): string {
  return [
    ...(source === undefined ? [] : [said.sources[source.type](source.name)]),
    texts.templates.fieldName(field),
    ...(line === undefined ? [] : [said.line(line)]),
    ...(locales.length === 0 ? [] : [locales.join(', ')]),
  ].join(', ')
}
