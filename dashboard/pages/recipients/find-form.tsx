import { useSignal } from '@preact/signals'
import { ask } from '../../app/api.ts'
import { navigate, place } from '../../app/router.ts'
import { session } from '../../app/session.ts'
import { settings } from '../../texts/settings.ts'
import { Button } from '../../ui/button.tsx'
import { Select, TextField } from '../../ui/field.tsx'
import { Form, useForm } from '../../ui/form.tsx'
import { Segments } from '../../ui/segments.tsx'

const said = settings.recipients
const WAYS = ['recipient', 'address'] as const

/** Asks for a recipient. A found one is in the address of the page, so that links and the back button keep it. */
export function FindForm({
  named,
}: {
  readonly named: Readonly<Partial<Record<'recipient' | 'channel' | 'to', string>>>
}) {
  const { channels } = session.value
  const way = useSignal<(typeof WAYS)[number]>(named.to === undefined ? 'recipient' : 'address')
  const recipient = useSignal(named.recipient ?? '')
  const channel = useSignal(named.channel ?? channels.find((name) => name === 'email') ?? channels[0] ?? '')
  const to = useSignal(named.to ?? '')
  const form = useForm(async () => {
    const query =
      way.value === 'recipient'
        ? { recipient: recipient.value.trim() }
        : { channel: channel.value, to: to.value.trim() }
    await ask('/v1/preferences', { query })
    await navigate(place.value.path, query)
  })
  const isEmpty = (way.value === 'recipient' ? recipient : to).value.trim() === ''
  return (
    <Form state={form} fields={['recipient', 'channel', 'to']}>
      <Segments
        label={said.way}
        value={way.value}
        choices={WAYS.map((value) => ({ value, label: said.ways[value] }))}
        onValue={(value) => {
          way.value = value
        }}
      />
      <div class="filters">
        {way.value === 'recipient' ? (
          <TextField
            label={said.recipient}
            error={form.errorOf('recipient')}
            value={recipient.value}
            spellcheck={false}
            autoComplete="off"
            maxLength={255}
            onValue={(value) => {
              recipient.value = value
            }}
          />
        ) : (
          <>
            <Select
              label={said.channel}
              error={form.errorOf('channel')}
              value={channel.value}
              choices={channels.map((value) => ({ value, label: value }))}
              onValue={(value) => {
                channel.value = value
              }}
            />
            <TextField
              label={said.to}
              error={form.errorOf('to')}
              value={to.value}
              spellcheck={false}
              autoComplete="off"
              onValue={(value) => {
                to.value = value
              }}
            />
          </>
        )}
        <Button kind="primary" type="submit" icon="search" busy={form.busy} disabled={isEmpty}>
          {said.find}
        </Button>
      </div>
    </Form>
  )
}
