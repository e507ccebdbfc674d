import type { ApiError } from '../../app/api.ts'
import { texts } from '../../texts/index.ts'
import { TextArea, TextField } from '../../ui/field.tsx'
import { isBroken, type Placeholder, shownValue, type Typed } from './variables.ts'

const said = texts.templates

/** Values, one field for each placeholder. */
export function VariablesForm({
  placeholders,
  typed,
  error,
  onTyped,
  title,
}: {
  readonly placeholders: readonly Placeholder[]
  readonly typed: Typed
  /** Of the last rendering. */
  readonly error: ApiError | null
  readonly onTyped: (typed: Typed) => void
  /** Default: they are examples, and not stored. */
  readonly title?: string
}) {
  if (placeholders.length === 0) return null
  const missing = (error?.details.missing ?? []) as readonly string[]

  function errorOf(placeholder: Placeholder): string | null {
    const { name, type } = placeholder
    if (isBroken(placeholder, typed)) return said.notJson(name)
    return missing.includes(name) ? said.missing(name, type) : null
  }

  return (
    <fieldset class="variables">
      <legend>{title ?? said.variables}</legend>
      {title === undefined ? <p class="hint">{said.variablesHint}</p> : null}
      {placeholders.map((placeholder) => {
        const { name, type } = placeholder
        const isSection = type === 'section'
        const field = {
          label: isSection ? said.section(name) : name,
          hint: isSection ? said.sectionHint : undefined,
          error: errorOf(placeholder),
          value: shownValue(placeholder, typed),
          onValue: (value: string) => onTyped({ ...typed, [name]: value }),
        }
        return isSection ? (
          <TextArea key={name} {...field} rows={2} mono />
        ) : (
          <TextField key={name} {...field} />
        )
      })}
    </fieldset>
  )
}
