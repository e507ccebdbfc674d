import { useSignal } from '@preact/signals'
import type { ComponentChildren } from 'preact'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { Tabs } from '../../ui/tabs.tsx'
import { canonicalLocale, LocaleField } from './locale-field.tsx'
import { type Draft, fieldOf, localesOf, SIDES } from './template.ts'

const said = texts.templates
/** No locale: the text of the template itself. */
const OWN = '-'

/** The texts of a template by locale, of which one is shown. A new one begins as a copy. */
export function LocaleTabs({
  draft,
  open,
  readOnly,
  onEdit,
  onOpen,
  children,
}: {
  readonly draft: Draft
  /** Null: that of the template. */
  readonly open: string | null
  readonly readOnly: boolean
  readonly onEdit: (change: Partial<Draft>) => void
  readonly onOpen: (locale: string | null) => void
  readonly children: (locale: string | null) => ComponentChildren
}) {
  const locales = localesOf(draft)
  const shown = open !== null && locales.includes(open) ? open : null
  const put = (locale: string, copied: boolean): void =>
    onEdit(
      Object.fromEntries(
        SIDES.map((side) => [fieldOf(locale, side), copied ? draft[fieldOf(shown, side)] : undefined]),
      ),
    )
  return (
    <>
      {locales.length === 0 ? (
        children(null)
      ) : (
        <Tabs
          label={said.locales}
          value={shown ?? OWN}
          onValue={(name) => onOpen(name === OWN ? null : name)}
          tabs={[
            { name: OWN, label: draft.locale || said.localeDefault, content: () => children(null) },
            ...locales.map((name) => ({ name, label: name, content: () => children(name) })),
          ]}
        />
      )}
      {readOnly ? null : (
        <div class="actions">
          <AddLocale
            taken={[draft.locale, ...locales]}
            onAdd={(locale) => {
              put(locale, true)
              onOpen(locale)
            }}
          />
          {shown === null ? null : (
            <Button
              icon="trash"
              onClick={() => {
                put(shown, false)
                onOpen(null)
              }}
            >
              {said.removeLocale(shown)}
            </Button>
          )}
        </div>
      )}
    </>
  )
}

function AddLocale({
  taken,
  onAdd,
}: {
  readonly taken: readonly string[]
  readonly onAdd: (locale: string) => void
}) {
  const open = useSignal(false)
  const name = useSignal('')
  const error = useSignal<string | null>(null)

  function add(): void {
    const locale = canonicalLocale(name.value.trim())
    error.value = locale === null ? said.badLocale : taken.includes(locale) ? said.takenLocale(locale) : null
    if (locale === null || error.value !== null) return
    close()
    onAdd(locale)
  }
  function close(): void {
    name.value = ''
    error.value = null
    open.value = false
  }

  if (!open.value)
    return (
      <Button
        icon="plus"
        onClick={() => {
          open.value = true
        }}
      >
        {said.addLocale}
      </Button>
    )
  return (
    // Enter adds the locale: it must not save the template.
    <fieldset
      class="add-locale"
      onKeyDown={(event) => {
        if (event.key !== 'Enter') return
        event.preventDefault()
        add()
      }}
    >
      <LocaleField name={name} error={error.value} label={said.newLocale} hint={said.newLocaleHint} />
      <div class="actions">
        <Button onClick={add}>{said.addLocale}</Button>
        <Button kind="quiet" onClick={close}>
          {texts.actions.cancel}
        </Button>
      </div>
    </fieldset>
  )
}
