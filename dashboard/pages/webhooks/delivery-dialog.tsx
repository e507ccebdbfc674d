import { ask } from '../../app/api.ts'
import { may } from '../../app/session.ts'
import { texts } from '../../texts/index.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { Dialog, DialogActions } from '../../ui/dialog.tsx'
import { Form, useForm } from '../../ui/form.tsx'
import { Time } from '../../ui/time.tsx'
import { tell } from '../../ui/toast.tsx'
import { type Delivery, type Endpoint, isTest } from './endpoint.ts'

const said = texts.webhooks

/** One event with each attempt: what was sent, and what was answered. */
export function DeliveryDialog({
  endpoint,
  delivery,
  onClose,
}: {
  readonly endpoint: Pick<Endpoint, 'id'>
  readonly delivery: Delivery
  readonly onClose: () => void
}) {
  const form = useForm(async () => {
    const path = `/v1/webhooks/${endpoint.id}/deliveries/${delivery.eventId}/redeliver`
    await ask(path, { method: 'POST' })
    tell(said.redelivered)
    onClose()
  })
  return (
    <Dialog title={isTest(delivery) ? said.testEvent : delivery.event} wide onClose={onClose}>
      <Form state={form} fields={[]}>
        <p class="mono muted">{delivery.eventId}</p>
        {delivery.attempts.length === 0 ? <p>{said.noAttempts}</p> : null}
        {delivery.attempts.toReversed().map((attempt, at) => (
          <Attempt key={attempt.attempt} of={attempt} open={at === 0 && !attempt.succeeded} />
        ))}
        <details>
          <summary>{said.payload}</summary>
          <pre>{indented(delivery.payload)}</pre>
        </details>
        <DialogActions>
          <Button onClick={onClose}>{texts.actions.close}</Button>
          {may('Full Access') && !isTest(delivery) ? (
            <Button kind="primary" type="submit" busy={form.busy}>
              {said.redeliver}
            </Button>
          ) : null}
        </DialogActions>
      </Form>
    </Dialog>
  )
}

/** What was sent in one attempt, and what was answered. */
function Attempt({
  of: attempt,
  open,
}: {
  readonly of: Delivery['attempts'][number]
  readonly open: boolean
}) {
  const { status, succeeded, durationMs, request, response, timestamp } = attempt
  return (
    <details open={open}>
      <summary>
        {said.attempt(attempt.attempt)}{' '}
        <Badge tone={succeeded ? 'good' : 'bad'}>{status === null ? said.noAnswer : String(status)}</Badge>{' '}
        <span class="muted">
          <Time at={timestamp} style="full" /> · {said.duration(durationMs)}
        </span>
      </summary>
      {request === null ? null : (
        <>
          <h3>{said.request}</h3>
          <pre>{[`POST ${request.url}`, ...headerLines(request.headers)].join('\n')}</pre>
        </>
      )}
      <h3>{said.response}</h3>
      {response === '' ? <p class="muted">{said.noBody}</p> : <pre>{response}</pre>}
    </details>
  )
}

function headerLines(headers: Readonly<Record<string, string>>): string[] {
  return Object.entries(headers).map(([name, value]) => `${name}: ${value}`)
}

function indented(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2)
  } catch {
    return json
  }
}
