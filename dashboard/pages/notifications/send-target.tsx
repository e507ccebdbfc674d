import { texts } from '../../texts/index.ts'
import { Checkbox, Select, TextField } from '../../ui/field.tsx'
import type { FormState } from '../../ui/form.tsx'
import { Segments } from '../../ui/segments.tsx'
import { configuredChannels, type SendDraft, TARGETS } from './send-draft.ts'

const said = texts.sending

interface TargetProps {
  readonly draft: SendDraft
  readonly form: FormState
  readonly onChange: (changed: Partial<SendDraft>) => void
}

/** Asks whom a message goes to. */
export function SendTarget(props: TargetProps) {
  const { draft, onChange } = props
  return (
    <>
      <Segments
        label={said.target}
        value={draft.target}
        choices={TARGETS.map((value) => ({ value, label: said.targets[value] }))}
        onValue={(target) => onChange({ target })}
      />
      {draft.target === 'address' ? <Address {...props} /> : <Person {...props} />}
    </>
  )
}

function Address({ draft: { channel, to }, form, onChange }: TargetProps) {
  return (
    <>
      <Select
        label={said.channel}
        error={form.errorOf('channel')}
        value={channel}
        choices={configuredChannels().map((value) => ({ value, label: value }))}
        onValue={(value) => onChange({ channel: value })}
      />
      <TextField
        label={said.to}
        hint={said.toHints[channel] ?? said.toHint}
        error={form.errorOf('to')}
        value={to}
        autoFocus
        autoComplete={channel === 'email' ? 'email' : 'off'}
        onValue={(value) => onChange({ to: value })}
      />
    </>
  )
}

function Person({ draft: { recipient, channels }, form, onChange }: TargetProps) {
  const all = configuredChannels()
  const wrong = form.errorOf('channels')
  return (
    <>
      <TextField
        label={said.person}
        hint={said.personHint}
        error={form.errorOf('recipient')}
        value={recipient}
        maxLength={255}
        spellcheck={false}
        autoComplete="off"
        onValue={(value) => onChange({ recipient: value })}
      />
      <fieldset>
        <legend>{said.channels}</legend>
        <div class="row">
          {all.map((name) => (
            <Checkbox
              key={name}
              label={name}
              checked={channels.includes(name)}
              onValue={(chosen) =>
                onChange({
                  channels: all.filter((each) => (each === name ? chosen : channels.includes(each))),
                })
              }
            />
          ))}
        </div>
        <p class="hint">{said.channelsHint}</p>
        {wrong === null ? null : (
          <p class="error" role="alert">
            {wrong}
          </p>
        )}
      </fieldset>
    </>
  )
}
