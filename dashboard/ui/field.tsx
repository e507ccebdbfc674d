import type { ComponentChildren, JSX } from 'preact'
import { useId } from 'preact/hooks'

interface Common {
  readonly label: string
  readonly hint?: ComponentChildren
  /** The fault of the value. */
  readonly error?: string | null | undefined
}

/** Ties a control to its label and notes. */
export interface Described {
  readonly id: string
  readonly 'aria-describedby'?: string
  readonly 'aria-invalid'?: 'true'
}

/** A label with its control, a hint and the fault of the value. */
export function Field({
  label,
  hint,
  error,
  control,
}: Common & { readonly control: (described: Described) => ComponentChildren }) {
  const id = useId()
  const notes = [hint ? `${id}-hint` : '', error ? `${id}-error` : ''].filter(Boolean).join(' ')
  return (
    <div class={`field${error ? ' invalid' : ''}`}>
      <label for={id}>{label}</label>
      {control({
        id,
        ...(notes === '' ? {} : { 'aria-describedby': notes }),
        ...(error ? { 'aria-invalid': 'true' as const } : {}),
      })}
      {hint ? (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      ) : null}
      {error ? (
        <p class="error" id={`${id}-error`}>
          {error}
        </p>
      ) : null}
    </div>
  )
}

interface TextFieldProps extends Common {
  readonly value: string
  readonly onValue: (value: string) => void
  readonly type?:
    | 'text'
    | 'password'
    | 'email'
    | 'url'
    | 'search'
    | 'number'
    | 'datetime-local'
    | 'date'
    | 'time'
  readonly name?: string
  readonly autoComplete?: string
  readonly placeholder?: string
  readonly maxLength?: number
  readonly autoFocus?: boolean
  readonly mono?: boolean
  readonly spellcheck?: boolean
  readonly readOnly?: boolean
  readonly min?: number
  readonly max?: number
  /** Id of a `datalist` with suggestions. */
  readonly list?: string
}

export function TextField({ label, hint, error, onValue, mono, type = 'text', ...input }: TextFieldProps) {
  // The types tell apart what each type of input may have; these attributes fit all of them.
  const attributes = { ...input, type } as JSX.IntrinsicElements['input']
  return (
    <Field
      label={label}
      hint={hint}
      error={error}
      control={(described) => (
        <input
          {...attributes}
          {...described}
          class={mono ? 'mono' : ''}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    />
  )
}

export function TextArea({
  label,
  hint,
  error,
  value,
  onValue,
  rows = 3,
  mono = false,
  readOnly = false,
}: Common & {
  readonly value: string
  readonly onValue: (value: string) => void
  readonly rows?: number
  readonly mono?: boolean
  readonly readOnly?: boolean
}) {
  return (
    <Field
      label={label}
      hint={hint}
      error={error}
      control={(described) => (
        <textarea
          {...described}
          class={mono ? 'mono' : ''}
          rows={rows}
          value={value}
          spellcheck={!mono}
          readOnly={readOnly}
          onInput={(event) => onValue(event.currentTarget.value)}
        />
      )}
    />
  )
}

export interface Choice<Value extends string> {
  readonly value: Value
  readonly label: string
}

export function Select<Value extends string>({
  label,
  hint,
  error,
  value,
  choices,
  readOnly = false,
  onValue,
}: Common & {
  readonly value: Value
  readonly readOnly?: boolean
  readonly choices: readonly Choice<Value>[]
  readonly onValue: (value: Value) => void
}) {
  return (
    <Field
      label={label}
      hint={hint}
      error={error}
      control={(described) => (
        <select
          {...described}
          disabled={readOnly}
          value={value}
          onChange={(event) => onValue(event.currentTarget.value as Value)}
        >
          {choices.map((choice) => (
            <option key={choice.value} value={choice.value}>
              {choice.label}
            </option>
          ))}
        </select>
      )}
    />
  )
}

export function Checkbox({
  label,
  hint,
  checked,
  onValue,
}: Pick<Common, 'label' | 'hint'> & {
  readonly checked: boolean
  readonly onValue: (value: boolean) => void
}) {
  const id = useId()
  return (
    <div class="field check">
      <input
        type="checkbox"
        id={id}
        checked={checked}
        aria-describedby={hint ? `${id}-hint` : undefined}
        onChange={(event) => onValue(event.currentTarget.checked)}
      />
      <label for={id}>{label}</label>
      {hint ? (
        <p class="hint" id={`${id}-hint`}>
          {hint}
        </p>
      ) : null}
    </div>
  )
}
