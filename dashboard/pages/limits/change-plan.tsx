import { useSignal } from '@preact/signals'
import { ask } from '../../app/api.ts'
import { settings } from '../../texts/settings.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Form, FormActions, useForm } from '../../ui/form.tsx'
import { PlanSelect } from '../organizations/plan-select.tsx'

const said = settings.limits

/** Gives an organization another plan. */
export function ChangePlan({
  organizationId,
  plan,
  onClose,
  onDone,
}: {
  readonly organizationId: string
  /** That it was given. Null: the default. */
  readonly plan: string | null
  readonly onClose: () => void
  readonly onDone: () => void
}) {
  const chosen = useSignal(plan ?? '')
  const form = useForm(async () => {
    const body = { plan: chosen.value || null }
    await ask(`/v1/organizations/${organizationId}`, { method: 'PATCH', body })
    onDone()
  })
  return (
    <Dialog title={said.change} onClose={onClose}>
      <Form state={form} fields={['plan']}>
        <PlanSelect
          value={chosen.value}
          error={form.errorOf('plan')}
          onValue={(value) => {
            chosen.value = value
          }}
        />
        <FormActions state={form} onCancel={onClose} />
      </Form>
    </Dialog>
  )
}
