import { useSignal } from '@preact/signals'
import { ask } from '../../app/api.ts'
import { texts } from '../../texts/index.ts'
import { Dialog } from '../../ui/dialog.tsx'
import { Checkbox, Select, TextField } from '../../ui/field.tsx'
import { Form, FormActions, useForm } from '../../ui/form.tsx'
import { type CreatedEndpoint, type Endpoint, EVENTS } from './endpoint.ts'

const said = texts.webhooks
/** What an endpoint gets that does not choose. */
const USUAL = EVENTS.slice(0, 5)
const SUCCESSES = ['200', '2xx'] as const

/** Asks for a new endpoint, or changes one. */
export function EndpointForm({
  endpoint,
  onClose,
  onSaved,
}: {
  readonly endpoint?: Endpoint
  readonly onClose: () => void
  readonly onSaved: (saved: CreatedEndpoint) => void
}) {
  const url = useSignal(endpoint?.url ?? '')
  const events = useSignal<readonly string[]>(endpoint?.events ?? USUAL)
  const success = useSignal(endpoint?.successStatus ?? '200')
  const form = useForm(async () => {
    const body = { url: url.value.trim(), events: events.value, successStatus: success.value }
    const asked = { method: endpoint === undefined ? 'POST' : 'PATCH', body } as const
    const path = endpoint === undefined ? '/v1/webhooks' : `/v1/webhooks/${endpoint.id}`
    onSaved(await ask<CreatedEndpoint>(path, { ...asked }))
  })
  function choose(event: string, chosen: boolean): void {
    events.value = EVENTS.filter((each) => (each === event ? chosen : events.value.includes(each)))
  }
  return (
    <Dialog title={endpoint === undefined ? said.create : said.edit} onClose={onClose}>
      <Form state={form} fields={['url', 'events']}>
        <TextField
          label={said.url}
          hint={said.urlHint}
          error={form.errorOf('url')}
          type="url"
          value={url.value}
          autoFocus
          maxLength={2_048}
          placeholder="https://"
          onValue={(value) => {
            url.value = value
          }}
        />
        <fieldset>
          <legend>{said.events}</legend>
          {EVENTS.map((event) => (
            <Checkbox
              key={event}
              label={event}
              checked={events.value.includes(event)}
              onValue={(chosen) => choose(event, chosen)}
            />
          ))}
          {form.errorOf('events') === null ? null : <p class="error">{form.errorOf('events')}</p>}
        </fieldset>
        <Select
          label={said.success}
          value={success.value}
          choices={SUCCESSES.map((value) => ({ value, label: said.successes[value] }))}
          onValue={(value) => {
            success.value = value
          }}
        />
        <FormActions state={form} onCancel={onClose}>
          {endpoint === undefined ? texts.actions.create : texts.actions.save}
        </FormActions>
      </Form>
    </Dialog>
  )
}
