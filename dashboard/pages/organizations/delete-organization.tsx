import { useSignal } from '@preact/signals'
import { ask } from '../../app/api.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { Checkbox, TextField } from '../../ui/field.tsx'
import { Form, useForm } from '../../ui/form.tsx'
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
        <DialogActions>
          <Button onClick={onClose}>{texts.actions.cancel}</Button>
          <Button kind="danger" type="submit" busy={form.busy} disabled={typed.value !== id}>
            {texts.actions.delete}
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  )
}
