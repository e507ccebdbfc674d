import { useSignal } from '@preact/signals'
import { ask } from '../../app/api.ts'
import { useIdempotencyKey } from '../../app/idempotency-key.ts'
import { navigate } from '../../app/router.ts'
import { inOrganization, session } from '../../app/session.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { Select, TextArea, TextField } from '../../ui/field.tsx'
import { Form, useForm } from '../../ui/form.tsx'
import { Segments } from '../../ui/segments.tsx'
import { tell } from '../../ui/toast.tsx'
import { kindOf } from '../templates/template.ts'
import { NONE, TemplateFields } from './template-fields.tsx'

const said = texts.sending
const KINDS = ['text', 'template'] as const

/** Sends one message, to see how it travels. */
export function SendForm({ onClose }: { readonly onClose: () => void }) {
  const channels = session.value.kinds.filter(({ configured }) => configured).map(({ name }) => name)
  const channel = useSignal(channels.find((name) => name === 'email') ?? channels[0] ?? '')
  const to = useSignal('')
  const kind = useSignal<(typeof KINDS)[number]>('text')
  const subject = useSignal<string>(said.subjectStart)
  const body = useSignal<string>(said.bodyStart)
  const template = useSignal(NONE)
  const keyOf = useIdempotencyKey()
  const withSubject = kindOf(channel.value).subject
  const form = useForm(async () => {
    const message = {
      channel: channel.value,
      to: to.value.trim(),
      ...(kind.value === 'template'
        ? { template: template.value.name, variables: template.value.variables }
        : {
            ...(withSubject && subject.value !== '' ? { subject: subject.value } : {}),
            body: body.value,
          }),
    }
    const { id } = await ask<{ id: string }>('/v1/notify', {
      method: 'POST',
      body: message,
      headers: keyOf(message),
    })
    tell(said.sent)
    await navigate(inOrganization(`/notifications/${id}`))
  })

  return (
    <Dialog title={said.open} onClose={onClose}>
      <p class="muted">{said.hint}</p>
      <Form state={form} fields={['channel', 'to', 'subject', 'body', 'template']}>
        <Select
          label={said.channel}
          error={form.errorOf('channel')}
          value={channel.value}
          choices={channels.map((value) => ({ value, label: value }))}
          onValue={(value) => {
            channel.value = value
            template.value = NONE
          }}
        />
        <TextField
          label={said.to}
          hint={said.toHints[channel.value] ?? said.toHint}
          error={form.errorOf('to')}
          value={to.value}
          autoFocus
          autoComplete={channel.value === 'email' ? 'email' : 'off'}
          onValue={(value) => {
            to.value = value
          }}
        />
        <Segments
          label={said.what}
          value={kind.value}
          choices={KINDS.map((value) => ({ value, label: said.kinds[value] }))}
          onValue={(value) => {
            kind.value = value
          }}
        />
        {kind.value === 'template' ? (
          <TemplateFields
            channel={channel.value}
            chosen={template.value}
            form={form}
            onChosen={(chosen) => {
              template.value = chosen
            }}
          />
        ) : (
          <>
            {withSubject ? (
              <TextField
                label={said.subject}
                error={form.errorOf('subject')}
                value={subject.value}
                onValue={(value) => {
                  subject.value = value
                }}
              />
            ) : null}
            <TextArea
              label={said.body}
              error={form.errorOf('body')}
              value={body.value}
              rows={4}
              onValue={(value) => {
                body.value = value
              }}
            />
          </>
        )}
        <DialogActions>
          <Button onClick={onClose}>{texts.actions.cancel}</Button>
          <Button kind="primary" type="submit" icon="send" busy={form.busy}>
            {said.submit}
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  )
}
