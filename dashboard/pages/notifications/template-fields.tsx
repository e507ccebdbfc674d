import { useEffect } from 'preact/hooks'
import { useData } from '../../app/use-data.ts'
import { texts } from '../../texts/index.ts'
import { Select } from '../../ui/field.tsx'
import type { FormState } from '../../ui/form.tsx'
import { ErrorNote, Loading } from '../../ui/states.tsx'
import { draftOf, type Template } from '../templates/template.ts'
import { usePreview } from '../templates/use-preview.ts'
import type { Typed } from '../templates/variables.ts'
import { VariablesForm } from '../templates/variables-form.tsx'
import { type ChosenTemplate, channelsOf, NO_TEMPLATE, placeholdersOf, type SendDraft } from './send-draft.ts'

const said = texts.sending

/** The choice of a template for each channel, and the values for the placeholders of all. */
export function TemplateFields({
  draft,
  form,
  onChosen,
  onTyped,
}: {
  readonly draft: SendDraft
  readonly form: FormState
  readonly onChosen: (channel: string, chosen: ChosenTemplate) => void
  readonly onTyped: (typed: Typed) => void
}) {
  const { value, error, reload } = useData<{ readonly items: readonly Template[] }>('/v1/templates', {
    query: { limit: '100' },
    everyMs: 0,
  })
  if (value === null) return error === null ? <Loading /> : <ErrorNote error={error} retry={reload} />
  const { target, templates, typed } = draft
  const channels = channelsOf(draft)
  return (
    <>
      {channels.map((channel) => (
        <TemplateField
          key={channel}
          label={target === 'person' ? said.templateOf(channel) : said.template}
          channel={channel}
          fault={form.errorOf(target === 'person' ? `template.${channel}` : 'template')}
          fitting={value.items.filter((each) => each.channel === channel)}
          chosen={templates[channel] ?? NO_TEMPLATE}
          typed={typed}
          onChosen={(chosen) => onChosen(channel, chosen)}
        />
      ))}
      <VariablesForm
        title={said.values}
        placeholders={placeholdersOf(draft)}
        typed={typed}
        error={
          channels.map((channel) => templates[channel]?.error ?? null).find((each) => each !== null) ?? null
        }
        onTyped={onTyped}
      />
    </>
  )
}

function TemplateField({
  label,
  channel,
  fault,
  fitting,
  chosen,
  typed,
  onChosen,
}: {
  readonly label: string
  readonly channel: string
  readonly fault: string | null
  readonly fitting: readonly Template[]
  readonly chosen: ChosenTemplate
  readonly typed: Typed
  readonly onChosen: (chosen: ChosenTemplate) => void
}) {
  if (fitting.length === 0) return <p class="note warn">{said.noTemplates(channel)}</p>
  const template = fitting.find(({ name }) => name === chosen.name)
  return (
    <>
      <Select
        label={label}
        error={fault}
        value={chosen.name}
        choices={[
          { value: '', label: said.chooseTemplate },
          ...fitting.map(({ name }) => ({ value: name, label: name })),
        ]}
        onValue={(name) => onChosen({ ...NO_TEMPLATE, name })}
      />
      {template === undefined ? null : (
        <Learning key={template.id} of={template} typed={typed} onChosen={onChosen} />
      )}
    </>
  )
}

/** Learns the placeholders of a template. */
function Learning({
  of: template,
  typed,
  onChosen,
}: {
  readonly of: Template
  readonly typed: Typed
  readonly onChosen: (chosen: ChosenTemplate) => void
}) {
  const { placeholders, error } = usePreview(draftOf(template), typed)
  useEffect(() => onChosen({ name: template.name, placeholders, error }), [placeholders, error])
  return null
}
