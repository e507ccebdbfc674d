import { useSignal } from '@preact/signals'
import { ask } from '../../app/api.ts'
import { texts } from '../../texts/index.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Form, FormActions, useForm } from '../../ui/form.tsx'
import { localInput } from '../../ui/time.tsx'
import { tell } from '../../ui/toast.tsx'

const said = texts.webhooks
const DAY_MS = 86_400_000

/** Sends again what failed or was held since a time. */
export function RedeliverForm({ path, onClose }: { readonly path: string; readonly onClose: () => void }) {
  const since = useSignal(localInput(Date.now() - DAY_MS))
  const form = useForm(async () => {
    const body = { since: new Date(since.value).toISOString() }
    const asked = { method: 'POST', body } as const
    const { redelivered } = await ask<{ redelivered: number }>(`${path}/redeliver`, asked)
    tell(said.redeliveredCount(redelivered))
    onClose()
  })
  return (
    <Dialog title={said.redeliverTitle} onClose={onClose}>
      <Form state={form} fields={['since']}>
        <TextField
          label={said.since}
          hint={said.redeliverHint}
          error={form.errorOf('since')}
          type="datetime-local"
          value={since.value}
          onValue={(value) => {
            since.value = value
          }}
        />
        <FormActions state={form} onCancel={onClose} disabled={since.value === ''}>
          {said.redeliverSince}
        </FormActions>
      </Form>
    </Dialog>
  )
}
