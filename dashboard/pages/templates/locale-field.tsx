import type { Signal } from '@preact/signals'
import { TextField } from '../../ui/field.tsx'

/** Asks for the name of a locale. */
export function LocaleField({
  name,
  error,
  label,
  hint,
}: {
  readonly name: Signal<string>
  readonly error: string | null
  readonly label: string
  readonly hint: string
}) {
  return (
    <TextField
      label={label}
      hint={hint}
      error={error}
      value={name.value}
      autoFocus
      autoComplete="off"
      spellcheck={false}
      onValue={(value) => {
        name.value = value
      }}
    />
  )
}

/** A locale as BCP 47 writes it. Null: the name is not one. */
export function canonicalLocale(name: string): string | null {
  try {
    return Intl.getCanonicalLocales(name)[0] ?? null
  } catch {
    return null
  }
}
