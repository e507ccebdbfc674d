import { useSignal } from '@preact/signals'
import type { ApiError } from '../../app/api.ts'
import { session } from '../../app/session.ts'
import { useData } from '../../app/use-data.ts'
import { texts } from '../../texts/index.ts'
import { CodeField } from '../../ui/code-field.tsx'
import { type Choice, Select, TextField } from '../../ui/field.tsx'
import type { FormState } from '../../ui/form.tsx'
import { LocaleTabs } from './locale-tabs.tsx'
import { type Draft, FIELDS, fieldOf, kindOf, type Side } from './template.ts'

const said = texts.templates

/** Fields whose errors stand beside them. */
type FieldName = (typeof FIELDS)[number] | 'body'

/** The error of a whole form. */
export function generalError(form: FormState): ApiError | null {
  return [...FIELDS, 'body'].some((field) => form.errorOf(field) !== null) ? null : form.error
}

interface Listed {
  readonly items: readonly { readonly id: string; readonly name: string }[]
}

export function DraftFields({
  draft,
  form,
  rendering,
  isNew,
  textOnly,
  readOnly,
  onEdit,
  onLocale,
}: {
  readonly draft: Draft
  readonly form: FormState
  /** The faults of the present draft. */
  readonly rendering: ApiError | null
  readonly isNew: boolean
  /** True: the fields that are not versioned are not shown. */
  readonly textOnly: boolean
  readonly readOnly: boolean
  readonly onEdit: (change: Partial<Draft>) => void
  /** Another locale is shown. Null: that of the template. */
  readonly onLocale: (locale: string | null) => void
}) {
  const channels = session.value.kinds.filter(({ configured, name }) => configured || name === draft.channel)
  const layouts = useData<Listed>('/v1/layouts', { everyMs: 0 }).value?.items ?? []
  const categories = useData<Listed>('/v1/categories', { everyMs: 0 }).value?.items ?? []
  const locale = useSignal<string | null>(null)

  function errorOf(...names: readonly string[]): string | null {
    const told = names.map((name) => form.errorOf(name)).find((error) => error !== null)
    if (told !== undefined) return told
    return names.some((name) => name === rendering?.details.field) ? (rendering?.message ?? null) : null
  }
  const field = (name: Exclude<FieldName, 'body'>) => ({
    error: errorOf(name),
    value: draft[name],
    readOnly,
    onValue: (value: string) => onEdit({ [name]: value }),
  })

  return (
    <form
      class="card"
      noValidate
      onSubmit={(event) => {
        event.preventDefault()
        void form.submit()
      }}
    >
      {textOnly ? null : (
        <>
          <TextField
            label={said.name}
            hint={said.nameHint}
            {...field('name')}
            maxLength={100}
            autoComplete="off"
            spellcheck={false}
          />
          {isNew ? (
            <Select
              label={said.channel}
              hint={said.channelHint}
              {...field('channel')}
              choices={channels.map(({ name }) => ({ value: name, label: name }))}
            />
          ) : null}
          <TextField label={said.description} {...field('description')} autoComplete="off" />
        </>
      )}
      <div class="variables">
        {textOnly ? null : (
          <Select
            label={said.category}
            {...field('category')}
            choices={choicesOf(
              said.defaultCategory,
              draft.category,
              categories.map(({ id, name }) => ({ value: id, label: name })),
            )}
          />
        )}
        <Select
          label={said.layout}
          {...field('layout')}
          choices={choicesOf(
            said.noLayout,
            draft.layout,
            layouts.map(({ name }) => ({ value: name, label: name })),
          )}
        />
        <TextField
          label={said.locale}
          {...field('locale')}
          placeholder={said.localeDefault}
          autoComplete="off"
          spellcheck={false}
        />
      </div>
      <LocaleTabs
        draft={draft}
        open={locale.value}
        readOnly={readOnly}
        onEdit={onEdit}
        onOpen={(next) => {
          locale.value = next
          onLocale(next)
        }}
      >
        {(shown) => (
          <TextSides
            key={shown ?? ''}
            draft={draft}
            locale={shown}
            readOnly={readOnly}
            errorOf={errorOf}
            onEdit={onEdit}
          />
        )}
      </LocaleTabs>
    </form>
  )
}

/** What is chosen stays a choice, also where the list lacks it. */
function choicesOf(
  none: string,
  chosen: string,
  listed: readonly Choice<string>[],
): readonly Choice<string>[] {
  const known = chosen === '' || listed.some(({ value }) => value === chosen)
  return [{ value: '', label: none }, ...(known ? [] : [{ value: chosen, label: chosen }]), ...listed]
}

/** The text in one locale. */
function TextSides({
  draft,
  locale,
  readOnly,
  errorOf,
  onEdit,
}: {
  readonly draft: Draft
  /** Null: that of the template. */
  readonly locale: string | null
  readonly readOnly: boolean
  readonly errorOf: (...names: readonly string[]) => string | null
  readonly onEdit: (change: Partial<Draft>) => void
}) {
  const kind = kindOf(draft.channel)
  const sideOf = (side: Side): string => draft[fieldOf(locale, side)] ?? ''
  const [hasHtml, hasText] = [sideOf('html') !== '', sideOf('text') !== '']
  const bodyOf = locale === null ? 'body' : `locales.${locale}.body`
  const field = (side: Side, ...also: readonly string[]) => ({
    error: errorOf(fieldOf(locale, side), ...also),
    value: sideOf(side),
    readOnly,
    onValue: (value: string) => onEdit({ [fieldOf(locale, side)]: value }),
  })
  return (
    <>
      {kind.subject || sideOf('subject') !== '' ? (
        <TextField
          label={said.subject}
          hint={kind.subject ? (locale === null ? said.subjectHint : said.variantSubject) : said.unusedHint}
          {...field('subject')}
          autoComplete="off"
        />
      ) : null}
      {kind.html ? (
        <CodeField
          label={said.html}
          hint={said.htmlHint}
          {...field('html', ...(!hasHtml && hasText ? [] : [bodyOf]))}
          language="html"
        />
      ) : null}
      <CodeField
        label={said.text}
        hint={kind.html ? said.alternativeHint : said.textHint}
        {...field('text', ...(kind.html && !hasText ? [] : [bodyOf]))}
        language="text"
      />
    </>
  )
}
