import { useSignal } from '@preact/signals'
import { ask } from '../../app/api.ts'
import { useIdempotencyKey } from '../../app/idempotency-key.ts'
import { hrefOf } from '../../app/router.ts'
import { inOrganization } from '../../app/session.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { TextField } from '../../ui/field.tsx'
import { Form, useForm } from '../../ui/form.tsx'
import type { Template } from './template.ts'

const said = texts.templates

/** Sends the stored template to one recipient, with the example values. */
export function TestSend({
  template: { id, version },
  changed,
  variables,
  onClose,
}: {
  readonly template: Template
  readonly changed: boolean
  readonly variables: object
  readonly onClose: () => void
}) {
  const to = useSignal('')
  const sent = useSignal<string | null>(null)
  const keyOf = useIdempotencyKey()
  const form = useForm(async () => {
    const body = { template: id, to: to.value.trim(), variables }
    const answer = await ask<{ id: string }>('/v1/notify', {
      method: 'POST',
      body,
      headers: keyOf(body),
    })
    sent.value = answer.id
  })
  return (
    <Dialog title={said.testTitle(version)} onClose={onClose}>
      <p>{changed ? said.testUnsaved : said.testHint}</p>
      {sent.value === null ? null : (
        <p class="note" role="status">
          <a href={hrefOf(inOrganization(`/notifications/${sent.value}`))}>{said.testSent}</a>
        </p>
      )}
      <Form state={form} fields={['to']}>
        <TextField
          label={said.to}
          error={form.errorOf('to')}
          value={to.value}
          autoFocus
          onValue={(value) => {
            to.value = value
          }}
        />
        <DialogActions>
          <Button onClick={onClose}>{texts.actions.close}</Button>
          <Button kind="primary" type="submit" icon="send" busy={form.busy}>
            {texts.actions.send}
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  )
}
