import { useSignal } from '@preact/signals'
import { useRef } from 'preact/hooks'
import { ask } from '../../app/api.ts'
import { useIdempotencyKey } from '../../app/idempotency-key.ts'
import { navigate } from '../../app/router.ts'
import { inOrganization } from '../../app/session.ts'
import { texts } from '../../texts/index.ts'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { TextArea, TextField } from '../../ui/field.tsx'
import { Form, useForm } from '../../ui/form.tsx'
import { Segments } from '../../ui/segments.tsx'
import { Time } from '../../ui/time.tsx'
import { tell } from '../../ui/toast.tsx'
import { kindOf } from '../templates/template.ts'
import { channelsOf, emptySendDraft, KINDS, messageOf, type SendDraft } from './send-draft.ts'
import { SendTarget } from './send-target.tsx'
import { TemplateFields } from './template-fields.tsx'

const said = texts.sending
const FIELDS = ['channel', 'to', 'recipient', 'channels', 'subject', 'body', 'template']

interface Sent {
  readonly id: string
  readonly groupId?: string
  readonly ids?: readonly string[]
}

/** A message that was checked and not sent. */
interface Checked {
  /** Empty: the person has no address. */
  readonly to: string
  readonly delayed: { readonly until: string; readonly message: string } | null
}

/** Sends one message to an address or a person, to see how it travels. */
export function SendForm({ onClose }: { readonly onClose: () => void }) {
  const draft = useSignal(emptySendDraft())
  /** The result of the last check, and of what. */
  const checked = useSignal<(Checked & { readonly of: string }) | null>(null)
  const onlyChecks = useRef(false)
  const keyOf = useIdempotencyKey()
  const change = (changed: Partial<SendDraft>): void => {
    draft.value = { ...draft.value, ...changed }
  }

  async function send(message: object): Promise<void> {
    const request = { method: 'POST', body: message, headers: keyOf(message) } as const
    const { id, groupId, ids } = await ask<Sent>('/v1/notify', request)
    if (groupId === undefined) {
      tell(said.sent)
      await navigate(inOrganization(`/notifications/${id}`))
    } else {
      tell(said.sentGroup(ids?.length ?? 1))
      await navigate(inOrganization('/notifications'), { groupId })
    }
  }

  async function check(message: object): Promise<void> {
    const request = { method: 'POST', body: message, headers: { 'X-Test-Mode': 'true' } } as const
    checked.value = { ...(await ask<Checked>('/v1/notify', request)), of: JSON.stringify(message) }
  }

  const form = useForm(async () => {
    const message = messageOf(draft.value)
    checked.value = null
    await (onlyChecks.current ? check(message) : send(message))
  })
  const submit = (checks: boolean) => (): Promise<void> => {
    onlyChecks.current = checks
    return form.submit()
  }
  const { kind, subject, body } = draft.value
  const result = checked.value?.of === JSON.stringify(messageOf(draft.value)) ? checked.value : null

  return (
    <Dialog title={said.open} onClose={onClose}>
      <p class="muted">{said.hint}</p>
      <Form state={{ ...form, submit: submit(false) }} fields={FIELDS}>
        <SendTarget draft={draft.value} form={form} onChange={change} />
        <Segments
          label={said.what}
          value={kind}
          choices={KINDS.map((value) => ({ value, label: said.kinds[value] }))}
          onValue={(value) => change({ kind: value })}
        />
        {kind === 'template' ? (
          <TemplateFields
            draft={draft.value}
            form={form}
            onChosen={(channel, chosen) =>
              change({ templates: { ...draft.value.templates, [channel]: chosen } })
            }
            onTyped={(typed) => change({ typed })}
          />
        ) : (
          <>
            {channelsOf(draft.value).some((name) => kindOf(name).subject) ? (
              <TextField
                label={said.subject}
                error={form.errorOf('subject')}
                value={subject}
                onValue={(value) => change({ subject: value })}
              />
            ) : null}
            <TextArea
              label={said.body}
              error={form.errorOf('body')}
              value={body}
              rows={4}
              onValue={(value) => change({ body: value })}
            />
          </>
        )}
        <div role="status">{result === null ? null : <Result of={result} />}</div>
        <DialogActions>
          <Button onClick={onClose}>{texts.actions.cancel}</Button>
          <Button icon="check" busy={form.busy} onClick={submit(true)}>
            {said.check}
          </Button>
          <Button kind="primary" type="submit" icon="send" busy={form.busy}>
            {said.submit}
          </Button>
        </DialogActions>
      </Form>
    </Dialog>
  )
}

function Result({ of: { to, delayed } }: { readonly of: Checked }) {
  if (delayed !== null) {
    return (
      <div class="note warn">
        <div>
          <p>{said.wouldWait}</p>
          <p>{delayed.message}</p>
          <p>
            {said.notBefore} <Time at={delayed.until} style="full" />
          </p>
        </div>
      </div>
    )
  }
  return <p class={to === '' ? 'note warn' : 'note good'}>{to === '' ? said.noAddress : said.wouldGo(to)}</p>
}
