import { useSignal } from '@preact/signals'
import { place } from '../../app/router.ts'
import { overAll } from '../../app/session.ts'
import { type ListState, useList } from '../../app/use-list.ts'
import { texts } from '../../texts/index.ts'
import { Filters, SelectFilter } from '../../ui/filters.tsx'
import { type Column, List } from '../../ui/list.tsx'
import { OrganizationLink } from '../../ui/organization-link.tsx'
import { Empty } from '../../ui/states.tsx'
import { Time } from '../../ui/time.tsx'
import { DeliveryDialog } from './delivery-dialog.tsx'
import { DeliveryStatus } from './delivery-status.tsx'
import { DELIVERY_STATUSES, type Delivery, type Endpoint, isTest } from './endpoint.ts'

const said = texts.webhooks

/** The deliveries of an endpoint, with the status that the address of the page names. */
export function useDeliveries(endpointPath: string): ListState<Delivery> {
  const status = place.value.query.status ?? ''
  return useList(`${endpointPath}/deliveries`, { query: { status }, keyOf: ({ eventId }) => eventId })
}

/** The events that went, or are to go, to an endpoint. */
export function Deliveries({
  endpoint,
  deliveries,
}: {
  readonly endpoint: Endpoint
  readonly deliveries: ListState<Delivery>
}) {
  const opened = useSignal<string | null>(null)
  const shown = deliveries.items?.find(({ eventId }) => eventId === opened.value)
  const columns: Column<Delivery>[] = [
    {
      title: said.event,
      main: true,
      cell: (delivery) => (
        <button
          type="button"
          class="link"
          onClick={() => {
            opened.value = delivery.eventId
          }}
        >
          {isTest(delivery) ? said.testEvent : delivery.event}
        </button>
      ),
    },
    {
      title: said.status,
      cell: (delivery) => <DeliveryStatus of={delivery} />,
    },
    ...(overAll.value
      ? [
          {
            title: texts.app.organization,
            cell: ({ payload }: Delivery) => <OrganizationLink id={organizationIn(payload)} />,
          },
        ]
      : []),
    { title: said.attempts, cell: ({ attempts }) => attempts.length },
    { title: said.created, cell: ({ createdAt }) => <Time at={createdAt} /> },
  ]
  return (
    <section class="part" aria-labelledby="deliveries">
      <header class="part-head">
        <h2 id="deliveries">{said.deliveries}</h2>
        <Filters names={['status']}>
          <SelectFilter
            name="status"
            label={said.status}
            choices={DELIVERY_STATUSES.map((value) => ({ value, label: said.deliveryStatus[value] }))}
          />
        </Filters>
      </header>
      <List
        label={said.deliveries}
        state={deliveries}
        columns={columns}
        filtered={(place.value.query.status ?? '') !== ''}
        empty={
          <Empty icon="webhooks" title={said.deliveriesEmpty}>
            <p>{said.deliveriesHint}</p>
          </Empty>
        }
      />
      {shown === undefined ? null : (
        <DeliveryDialog
          endpoint={endpoint}
          delivery={shown}
          onClose={() => {
            opened.value = null
          }}
        />
      )}
    </section>
  )
}

/** Whose event it is. Null: it does not say. */
function organizationIn(payload: string): string | null {
  try {
    const { data } = JSON.parse(payload) as { readonly data?: { readonly organizationId?: unknown } }
    return typeof data?.organizationId === 'string' ? data.organizationId : null
  } catch {
    return null
  }
}
