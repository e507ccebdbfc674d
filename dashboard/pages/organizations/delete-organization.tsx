import { useSignal } from '@preact/signals'
import { ask } from '../../app/api.ts'
import { texts } from '../../texts/index.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Checkbox, TextField } from '../../ui/field.tsx'
import { Form, FormActions, useForm } from '../../ui/form.tsx'
import type { Organization } from './organization.ts'

const said = texts.organizations

/** Deletes an organization, once its id was typed. */
export function DeleteOrganization({
  organization: { id, name },
  onClose,
  onDone,
}: {
  readonly organization: Organization
  readonly onClose: () => void
  readonly onDone: (notifications: number) => void
}) {
  const typed = useSignal('')
  const force = useSignal(false)
  const form = useForm(async () => {
    const query = force.value ? { force: 'true' } : {}
    const { notifications } = await ask<{ notifications: number }>(
      `/v1/organizations/${encodeURIComponent(id)}`,
      {
        method: 'DELETE',
        query,
      },
    )
    onDone(notifications)
  })
  return (
    <Dialog title={said.deleteTitle(name)} onClose={onClose}>
      <Form state={form} fields={[]}>
        <p>{said.deleteHint}</p>
        <Checkbox
          label={said.force}
          checked={force.value}
          onValue={(value) => {
            force.value = value
          }}
        />
        <TextField
          label={said.confirmId(id)}
          value={typed.value}
          mono
          autoComplete="off"
          onValue={(value) => {
            typed.value = value
          }}
        />
        <FormActions state={form} onCancel={onClose} kind="danger" disabled={typed.value !== id}>
          {texts.actions.delete}
        </FormActions>
      </Form>
    </Dialog>
  )
}
