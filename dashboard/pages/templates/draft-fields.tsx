import type { ApiError } from '../../app/api.ts'
import { session } from '../../app/session.ts'
import { texts } from '../../texts/index.ts'
import { CodeField } from '../../ui/code-field.tsx'
import { Select, TextField } from '../../ui/field.tsx'
import type { FormState } from '../../ui/form.tsx'
import { type Draft, kindOf } from './template.ts'

const said = texts.templates

/** Fields whose errors stand beside them. */
const FIELDS = ['name', 'channel', 'description', 'subject', 'html', 'text', 'body'] as const
type FieldName = (typeof FIELDS)[number]

/** The error of a form that is about none of the fields. */
export function generalError(form: FormState): ApiError | null {
  return FIELDS.some((field) => form.errorOf(field) !== null) ? null : form.error
}

export function DraftFields({
  draft,
  form,
  rendering,
  isNew,
  readOnly,
  onEdit,
}: {
  readonly draft: Draft
  readonly form: FormState
  /** What is wrong with the draft as it stands. */
  readonly rendering: ApiError | null
  readonly isNew: boolean
  readonly readOnly: boolean
  readonly onEdit: (change: Partial<Draft>) => void
}) {
  const kind = kindOf(draft.channel)
  const channels = session.value.kinds.filter(({ configured, name }) => configured || name === draft.channel)

  function errorOf(...names: FieldName[]): string | null {
    const told = names.map((name) => form.errorOf(name)).find((error) => error !== null)
    if (told !== undefined) return told
    return names.some((name) => name === rendering?.details.field) ? (rendering?.message ?? null) : null
  }

  return (
    <form
      class="card"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void form.submit()
      }}
    >
      <TextField
        label={said.name}
        hint={said.nameHint}
        error={errorOf('name')}
        value={draft.name}
        readOnly={readOnly}
        maxLength={100}
        autoComplete="off"
        spellcheck={false}
        onValue={(name) => onEdit({ name })}
      />
      {isNew ? (
        <Select
          label={said.channel}
          hint={said.channelHint}
          error={errorOf('channel')}
          value={draft.channel}
          choices={channels.map(({ name }) => ({ value: name, label: name }))}
          onValue={(channel) => onEdit({ channel })}
        />
      ) : null}
      <TextField
        label={said.description}
        error={errorOf('description')}
        value={draft.description}
        readOnly={readOnly}
        autoComplete="off"
        onValue={(description) => onEdit({ description })}
      />
      {kind.subject || draft.subject !== '' ? (
        <TextField
          label={said.subject}
          hint={kind.subject ? said.subjectHint : said.unusedHint}
          error={errorOf('subject')}
          value={draft.subject}
          readOnly={readOnly}
          autoComplete="off"
          onValue={(subject) => onEdit({ subject })}
        />
      ) : null}
      {kind.html ? (
        <CodeField
          label={said.html}
          hint={said.htmlHint}
          error={draft.html === '' && draft.text !== '' ? errorOf('html') : errorOf('html', 'body')}
          language="html"
          value={draft.html}
          readOnly={readOnly}
          onValue={(html) => onEdit({ html })}
        />
      ) : null}
      <CodeField
        label={said.text}
        hint={kind.html ? said.alternativeHint : said.textHint}
        error={kind.html && draft.text === '' ? errorOf('text') : errorOf('text', 'body')}
        language="text"
        value={draft.text}
        readOnly={readOnly}
        onValue={(text) => onEdit({ text })}
      />
    </form>
  )
}
