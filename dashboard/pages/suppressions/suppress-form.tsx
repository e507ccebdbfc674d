import { useSignal } from '@preact/signals'
import { ask } from '../../app/api.ts'
import { session } from '../../app/session.ts'
import { settings } from '../../texts/settings.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Select, TextField } from '../../ui/field.tsx'
import { Form, FormActions, useForm } from '../../ui/form.tsx'

const said = settings.suppressions

/** Suppresses a recipient by hand. */
export function SuppressForm({
  onClose,
  onDone,
}: {
  readonly onClose: () => void
  readonly onDone: () => void
}) {
  const { channels } = session.value
  const channel = useSignal(channels[0] ?? '')
  const to = useSignal('')
  const form = useForm(async () => {
    const body = { channel: channel.value, to: to.value.trim() }
    await ask('/v1/suppressions', { method: 'POST', body })
    onDone()
  })
  return (
    <Dialog title={said.create} onClose={onClose}>
      <Form state={form} fields={['channel', 'to']}>
        <Select
          label={said.channel}
          error={form.errorOf('channel')}
          value={channel.value}
          choices={channels.map((value) => ({ value, label: value }))}
          onValue={(value) => {
            channel.value = value
          }}
        />
        <TextField
          label={said.to}
          hint={said.toHint}
          error={form.errorOf('to')}
          value={to.value}
          autoFocus
          onValue={(value) => {
            to.value = value
          }}
        />
        <FormActions state={form} onCancel={onClose}>
          {said.confirm}
        </FormActions>
      </Form>
    </Dialog>
  )
}
