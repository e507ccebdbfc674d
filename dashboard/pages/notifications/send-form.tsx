import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { ask } from '../../app/api.ts'
import { randomKey } from '../../app/random-key.ts'
import { navigate } from '../../app/router.ts'
import { inOrganization, organization, session } from '../../app/session.ts'
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
  const keyFor = useRef({ body: '', key: '' })
  const withSubject = kindOf(channel.value).subject

  /** One key for one message: pressed again after a lost answer, it sends nothing twice. */
  function idempotencyKey(message: unknown): string {
    const json = JSON.stringify(message)
    if (keyFor.current.body !== json) keyFor.current = { body: json, key: randomKey() }
    return keyFor.current.key
  }

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
      headers: { 'Idempotency-Key': idempotencyKey(message) },
      organization: organization.value ?? undefined,
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
