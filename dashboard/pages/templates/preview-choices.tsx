import type { ApiError } from '../../app/api.ts'
import { useData } from '../../app/use-data.ts'
import { texts } from '../../texts/index.ts'
import { Select, TextField } from '../../ui/field.tsx'
import { type Draft, localesOf } from './template.ts'

const said = texts.templates.choices

/** How a preview is rendered. Empty: as the template says, without a recipient. */
export interface Choices {
  readonly locale: string
  /** `-`, which is no name: without a layout. */
  readonly layout: string
  readonly recipient: string
}

export const NO_CHOICES: Choices = { locale: '', layout: '', recipient: '' }
const NO_LAYOUT = '-'

/** The fields of a preview for the choices. */
export function choiceFields({ locale, layout, recipient }: Choices): object {
  return {
    ...(layout === '' ? {} : { layout: layout === NO_LAYOUT ? null : layout }),
    ...(locale === '' ? {} : { inLocale: locale }),
    ...(recipient.trim() === '' ? {} : { recipient: recipient.trim() }),
  }
}

interface Listed {
  readonly items: readonly { readonly name: string; readonly locale: string }[]
}

export function PreviewChoices({
  draft,
  choices,
  error,
  onChoices,
}: {
  readonly draft: Draft
  readonly choices: Choices
  /** Of the last rendering. */
  readonly error: ApiError | null
  readonly onChoices: (choices: Choices) => void
}) {
  const layouts = useData<Listed>('/v1/layouts', { everyMs: 0 }).value?.items ?? []
  const catalogues = useData<Listed>('/v1/messages', { everyMs: 0 }).value?.items ?? []
  const own = [draft.locale, ...localesOf(draft), ...catalogues.map(({ locale }) => locale)]
  const locales = new Set(own.filter((each) => each !== ''))
  const choose = (change: Partial<Choices>): void => onChoices({ ...choices, ...change })
  return (
    <div class="variables">
      <Select
        label={said.locale}
        value={choices.locale}
        choices={[
          { value: '', label: said.localeOfReader },
          ...[...locales].map((value) => ({ value, label: value })),
        ]}
        onValue={(locale) => choose({ locale })}
      />
      <Select
        label={said.layout}
        value={choices.layout}
        choices={[
          { value: '', label: said.ownLayout },
          { value: NO_LAYOUT, label: said.noLayout },
          ...layouts.map(({ name }) => ({ value: name, label: name })),
        ]}
        onValue={(layout) => choose({ layout })}
      />
      <TextField
        label={said.recipient}
        hint={said.recipientHint}
        error={error?.details.field === 'recipient' ? error.message : null}
        value={choices.recipient}
        spellcheck={false}
        autoComplete="off"
        onValue={(recipient) => choose({ recipient })}
      />
    </div>
  )
}
