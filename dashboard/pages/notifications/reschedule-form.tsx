import { useSignal } from '@preact/signals'
import { ask } from '../../app/api.ts'
import { texts } from '../../texts/index.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Form, FormActions, useForm } from '../../ui/form.tsx'
import { localInput } from '../../ui/time.tsx'
import { tell } from '../../ui/toast.tsx'

const said = texts.notifications

/** Changes the time of a scheduled notification. */
export function RescheduleForm({
  id,
  sendAt,
  onClose,
}: {
  readonly id: string
  readonly sendAt: string
  readonly onClose: () => void
}) {
  const time = useSignal(localInput(Date.parse(sendAt)))
  const form = useForm(async () => {
    const body = { sendAt: new Date(time.value).toISOString() }
    await ask(`/v1/notifications/${id}/reschedule`, { method: 'POST', body })
    tell(said.rescheduled)
    onClose()
  })
  return (
    <Dialog title={said.rescheduleTitle} onClose={onClose}>
      <Form state={form} fields={['sendAt']}>
        <TextField
          label={said.newTime}
          hint={said.rescheduleHint}
          error={form.errorOf('sendAt')}
          type="datetime-local"
          value={time.value}
          onValue={(value) => {
            time.value = value
          }}
        />
        <FormActions state={form} onCancel={onClose} disabled={time.value === ''}>
          {said.reschedule}
        </FormActions>
      </Form>
    </Dialog>
  )
}
