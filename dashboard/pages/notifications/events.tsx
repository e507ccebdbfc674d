import { useSignal } from '@preact/signals'
import { hrefOf } from '../../app/router.ts'
import { inOrganization } from '../../app/session.ts'
import { useData } from '../../app/use-data.ts'
import { texts } from '../../texts/index.ts'
import { type Column, Table } from '../../ui/list.tsx'
import { Empty, ErrorNote, Loading } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { DeliveryDialog } from '../webhooks/delivery-dialog.tsx'
import { DeliveryStatus } from '../webhooks/delivery-status.tsx'
import type { Delivery } from '../webhooks/endpoint.ts'

const said = texts.notifications

interface Told extends Delivery {
  readonly endpointId: string
}

/** What webhook endpoints were told of a notification. */
export function Events({ of: id }: { readonly of: string }) {
  const path = `/v1/notifications/${id}/webhook-deliveries`
  const { value, error, reload } = useData<{ readonly items: readonly Told[] }>(path)
  const opened = useSignal<string | null>(null)
  if (value === null) return error === null ? <Loading /> : <ErrorNote error={error} retry={reload} />
  if (value.items.length === 0) {
    return (
      <Empty icon="webhooks" title={said.noEvents}>
        <p>{said.noEventsHint}</p>
      </Empty>
    )
  }
  const shown = value.items.find((delivery) => keyOf(delivery) === opened.value)
  const columns: Column<Told>[] = [
    {
      title: texts.webhooks.event,
      main: true,
      cell: (delivery) => (
        <button
          type="button"
          class="link"
          onClick={() => {
            opened.value = keyOf(delivery)
          }}
        >
          {delivery.event}
        </button>
      ),
    },
    { title: texts.webhooks.status, cell: (delivery) => <DeliveryStatus of={delivery} /> },
    {
      title: said.endpoint,
      cell: ({ endpointId }) => (
        <a href={hrefOf(inOrganization(`/webhooks/${endpointId}`))}>
          <code>{endpointId}</code>
        </a>
      ),
    },
    { title: texts.webhooks.attempts, end: true, cell: ({ attempts }) => attempts.length },
    { title: texts.webhooks.created, end: true, cell: ({ createdAt }) => <Time at={createdAt} /> },
  ]
  return (
    <>
      {error === null ? null : <ErrorNote error={error} retry={reload} />}
      <Table label={said.tabs.events} items={value.items} columns={columns} keyOf={keyOf} />
      {shown === undefined ? null : (
        <DeliveryDialog
          endpoint={{ id: shown.endpointId }}
          delivery={shown}
          onClose={() => {
            opened.value = null
            void reload()
          }}
        />
      )}
    </>
  )
}

function keyOf({ eventId, endpointId }: Told): string {
  return `${eventId} ${endpointId}`
}
