import { useEffect } from 'preact/hooks'
import { useData } from '../../app/use-data.ts'
import { texts } from '../../texts/index.ts'
import { Select } from '../../ui/field.tsx'
import type { FormState } from '../../ui/form.tsx'
import { ErrorNote, Loading } from '../../ui/states.tsx'
import { draftOf, type Template } from '../templates/template.ts'
import { usePreview } from '../templates/use-preview.ts'
import { type Typed, variablesOf } from '../templates/variables.ts'
import { VariablesForm } from '../templates/variables-form.tsx'

const said = texts.sending

/** A template, and what was typed for its placeholders. */
export interface Chosen {
  readonly name: string
  readonly typed: Typed
  readonly variables: object
}

export const NONE: Chosen = { name: '', typed: {}, variables: {} }

/** The choice of a template, and the values for its placeholders. */
export function TemplateFields({
  channel,
  chosen,
  form,
  onChosen,
}: {
  readonly channel: string
  readonly chosen: Chosen
  readonly form: FormState
  readonly onChosen: (chosen: Chosen) => void
}) {
  const { value, error, reload } = useData<{ readonly items: readonly Template[] }>('/v1/templates', {
    query: { limit: '100' },
    everyMs: 0,
  })
  if (value === null) return error === null ? <Loading /> : <ErrorNote error={error} retry={reload} />
  const fitting = value.items.filter((each) => each.channel === channel)
  if (fitting.length === 0) return <p class="note warn">{said.noTemplates}</p>
  const template = fitting.find(({ name }) => name === chosen.name)
  return (
    <>
      <Select
        label={said.template}
        error={form.errorOf('template')}
        value={chosen.name}
        choices={[
          { value: '', label: said.chooseTemplate },
          ...fitting.map(({ name }) => ({ value: name, label: name })),
        ]}
        onValue={(name) => onChosen({ ...NONE, name })}
      />
      {template === undefined ? null : (
        <Variables
          key={template.id}
          of={template}
          typed={chosen.typed}
          onTyped={(typed, variables) => onChosen({ name: template.name, typed, variables })}
        />
      )}
    </>
  )
}

function Variables({
  of: template,
  typed,
  onTyped,
}: {
  readonly of: Template
  readonly typed: Typed
  readonly onTyped: (typed: Typed, variables: object) => void
}) {
  const { placeholders, error } = usePreview(draftOf(template), template, typed)
  // The values that fields begin with are sent as well.
  useEffect(() => onTyped(typed, variablesOf(placeholders, typed)), [placeholders])
  return (
    <VariablesForm
      placeholders={placeholders}
      typed={typed}
      error={error}
      onTyped={(changed) => onTyped(changed, variablesOf(placeholders, changed))}
    />
  )
}
