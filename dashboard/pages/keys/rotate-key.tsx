import { useSignal } from '@preact/signals'
import { ask } from '../../app/api.ts'
import { settings } from '../../texts/settings.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Form, FormActions, useForm } from '../../ui/form.tsx'
import { SecretDialog } from '../../ui/secret.tsx'
import type { CreatedKey, Key } from './key.ts'

const said = settings.keys

/** Begins a rotation: explains its steps, makes the new key, and shows its secret. */
export function RotateKey({ of: old, onDone }: { readonly of: Key; readonly onDone: () => void }) {
  const created = useSignal<CreatedKey | null>(null)
  const form = useForm(async () => {
    created.value = await ask<CreatedKey>(`/v1/api-keys/${old.id}/rotate`, { method: 'POST', body: {} })
  })
  const key = created.value
  if (key !== null) {
    return (
      <SecretDialog
        title={said.secretTitle}
        hint={said.rotateSecretHint}
        label={key.name}
        secret={key.secret}
        onDone={onDone}
      />
    )
  }
  return (
    <Dialog title={said.rotateTitle(old.name)} onClose={onDone}>
      <Form state={form} fields={[]}>
        <ol class="steps">
          {said.rotateSteps.map((step) => (
            <li key={step}>{step}</li>
          ))}
        </ol>
        <FormActions state={form} onCancel={onDone}>
          {said.rotateCreate}
        </FormActions>
      </Form>
    </Dialog>
  )
}
