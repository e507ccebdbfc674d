import { placeholdersOf } from '../../app/placeholders.ts'
import { useData } from '../../app/use-data.ts'
import { texts } from '../../texts/index.ts'
import { Select, TextArea } from '../../ui/field.tsx'
import type { FormState } from '../../ui/form.tsx'
import { ErrorNote, Loading } from '../../ui/states.tsx'

const said = texts.sending

interface Template {
  readonly name: string
  readonly channel: string
  readonly subject: string | null
  readonly body: string | null
  readonly html: string | null
  readonly text: string | null
}

/** The choice of a template, and the values for its placeholders. */
export function TemplateFields({
  channel,
  template,
  variables,
  form,
  onTemplate,
  onVariables,
}: {
  readonly channel: string
  readonly template: string
  readonly variables: string
  readonly form: FormState
  /** The name of one, and a JSON object that names its placeholders. */
  readonly onTemplate: (name: string, example: string) => void
  readonly onVariables: (json: string) => void
}) {
  const { value, error, reload } = useData<{ readonly items: readonly Template[] }>('/v1/templates', {
    query: { limit: '100' },
    everyMs: 0,
  })
  if (value === null) return error === null ? <Loading /> : <ErrorNote error={error} retry={reload} />
  const fitting = value.items.filter((each) => each.channel === channel)
  if (fitting.length === 0) return <p class="note warn">{said.noTemplates}</p>
  return (
    <>
      <Select
        label={said.template}
        error={form.errorOf('template')}
        value={template}
        choices={[
          { value: '', label: said.chooseTemplate },
          ...fitting.map(({ name }) => ({ value: name, label: name })),
        ]}
        onValue={(name) => {
          const chosen = fitting.find((each) => each.name === name)
          onTemplate(name, JSON.stringify(placeholdersOf(chosen ?? {}), null, 2))
        }}
      />
      {template === '' ? null : (
        <TextArea
          label={said.variables}
          hint={said.variablesHint}
          error={form.errorOf('variables')}
          value={variables}
          rows={Math.min(12, variables.split('\n').length + 1)}
          mono
          onValue={onVariables}
        />
      )}
    </>
  )
}
