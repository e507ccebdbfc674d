import { useId } from 'preact/hooks'
import type { Choice } from './field.tsx'

/** A choice between few values that all stand in view. */
export function Segments<Value extends string>({
  label,
  value,
  choices,
  onValue,
}: {
  readonly label: string
  readonly value: Value
  readonly choices: readonly Choice<Value>[]
  readonly onValue: (value: Value) => void
}) {
  const name = useId()
  return (
    <fieldset class="segments">
      <legend class="unseen">{label}</legend>
      {choices.map((choice) => (
        <label key={choice.value}>
          <input
            class="unseen"
            type="radio"
            name={name}
            checked={choice.value === value}
            onChange={() => onValue(choice.value)}
          />
          <span>{choice.label}</span>
        </label>
      ))}
    </fieldset>
  )
}
