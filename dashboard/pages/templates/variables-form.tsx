import type { ApiError } from '../../app/api.ts'
import { texts } from '../../texts/index.ts'
import { TextArea, TextField } from '../../ui/field.tsx'
import { isBroken, type Placeholder, shownValue, type Typed } from './variables.ts'

const said = texts.templates

/** Example values, one field for each placeholder. */
export function VariablesForm({
  placeholders,
  typed,
  error,
  onTyped,
}: {
  readonly placeholders: readonly Placeholder[]
  readonly typed: Typed
  /** Of the last rendering. */
  readonly error: ApiError | null
  readonly onTyped: (typed: Typed) => void
}) {
  if (placeholders.length === 0) return null
  const missing = (error?.details.missing ?? []) as readonly string[]

  function errorOf(placeholder: Placeholder): string | null {
    const { name } = placeholder
    if (isBroken(placeholder, typed)) return said.notJson(name)
    // The values that a new placeholder begins with are on their way.
    return missing.includes(name) && (typed[name] !== undefined || isWithin(name, placeholders))
      ? said.missing(name)
      : null
  }

  return (
    <fieldset class="variables">
      <legend>{said.variables}</legend>
      <p class="hint">{said.variablesHint}</p>
      {placeholders.map((placeholder) => {
        const { name, required } = placeholder
        const field = {
          label: required ? name : said.section(name),
          hint: required ? undefined : said.sectionHint,
          error: errorOf(placeholder),
          value: shownValue(placeholder, typed),
          onValue: (value: string) => onTyped({ ...typed, [name]: value }),
        }
        return required ? (
          <TextField key={name} {...field} />
        ) : (
          <TextArea key={name} {...field} rows={2} mono />
        )
      })}
    </fieldset>
  )
}

/** True for `user` beside `user.name`, which cannot both be texts. */
function isWithin(name: string, placeholders: readonly Placeholder[]): boolean {
  return placeholders.some(({ name: other }) => name.startsWith(`${other}.`) || other.startsWith(`${name}.`))
}
