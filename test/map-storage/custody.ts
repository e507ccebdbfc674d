import * as kit from 'carillon/storage-kit'
import { cancelWaiting } from './notifications.ts'
import { type NotificationRow, type State, where } from './state.ts'
import { removeDeliveries } from './webhook-endpoints.ts'

export function createCustody(state: State): kit.CustodyRepository {
  const deliveriesOf = (notification: NotificationRow) => where(state.deliveries, { notification })
  const isLeased = (id: string): boolean => (state.jobs.get(id)?.leaseUntil ?? null) !== null
  const isBusy = (row: NotificationRow): boolean =>
    isLeased(row.id) || deliveriesOf(row).some(({ seq }) => isLeased(String(seq)))

  function step(
    { organizationId, ids }: kit.EraseRequest,
    isIn: (row: NotificationRow) => boolean,
    erase: (row: NotificationRow) => void,
  ): kit.ErasedStep {
    const found = [...new Set(ids)].flatMap((id) => state.notifications.get(id) ?? [])
    const rows = found.filter((row) => row.organization === organizationId && isIn(row))
    const busy = rows.filter(isBusy)
    const free = rows.filter((row) => !busy.includes(row))
    for (const row of free) erase(row)
    const idsOf = (some: readonly NotificationRow[]) => some.map(({ id }) => id)
    return { erased: idsOf(free), busy: idsOf(busy), left: [] }
  }

  function eraseDeliveries(row: NotificationRow, addresses?: readonly string[]): number {
    for (const { shown } of deliveriesOf(row)) {
      const payload = kit.erasedPayload(shown.payload, addresses)
      const named = payload === shown.payload ? addresses : undefined
      shown.attempts = shown.attempts.map((each) => ({ ...kit.erasedAttempt(each, named), at: each.at }))
      shown.payload = payload
    }
    return deliveriesOf(row).length
  }

  function changeFacts(row: NotificationRow, changed: (fact: string) => string): void {
    state.events = state.events.map((event) =>
      event.notification === row ? { ...event, fact: changed(event.fact) } : event,
    )
  }

  function reportsOf(organizationId: string): kit.StoredReport[] {
    const messages = new Map<string, kit.StoredReport>()
    for (const { shown } of where(state.deliveries, { organization: organizationId }))
      if (shown.eventType === 'message.received') {
        const { eventId: id, payload: json, createdAt: at } = shown
        messages.set(id, { id, kind: 'message', json, at })
      }
    const receipts = [...state.receipts].flatMap(([id, { at, unmatched }]): kit.StoredReport[] => {
      const owner = unmatched && (unmatched.organizationId ?? kit.defaultOrganization.id)
      return owner === organizationId
        ? [{ id, kind: 'receipt', json: JSON.stringify(unmatched?.fact), at }]
        : []
    })
    return [...messages.values(), ...receipts]
  }

  return {
    erase: async (request) => {
      const counts = { cancelled: 0, deliveries: 0, events: [] as kit.EraseAnswer['events'] }
      const isIn = ({ recipient }: NotificationRow) => recipient !== kit.ERASED_ADDRESS
      const answer = step(request, isIn, (row) => {
        const content = kit.erasedContent(JSON.parse(row.content), state.now())
        Object.assign(row, kit.erasedColumns(row), kit.storedContent(content), { uploads: [], copies: [] })
        changeFacts(row, kit.erasedFactText)
        counts.deliveries += eraseDeliveries(row)
        if (!state.jobs.has(row.id)) return
        counts.cancelled += 1
        counts.events = [...counts.events, ...cancelWaiting(state, row)]
      })
      return { ...answer, ...counts }
    },
    eraseCopies: async ({ addresses, without, ...request }) => {
      const isIn = ({ copies }: NotificationRow) => copies.some((copy) => addresses.includes(copy))
      return step(request, isIn, (row) => {
        const content = JSON.stringify(without(row.channel, JSON.parse(row.content)))
        const copies = row.copies.filter((copy) => !addresses.includes(copy))
        Object.assign(row, { content, copies, error: kit.erasedErrorText(row.error, addresses) })
        changeFacts(row, (fact) => kit.erasedFactText(fact, addresses))
        eraseDeliveries(row, addresses)
      })
    },
    reports: async ({ organizationId, most, after }) => {
      const all = reportsOf(organizationId)
      const left = all.slice(all.findIndex(({ id }) => id === after) + 1)
      const items = left.slice(0, most)
      return { items, next: left.length > most ? (items.at(-1)?.id ?? null) : null }
    },
    removeReports: async (organizationId, ids) => {
      const own = reportsOf(organizationId).filter(({ id }) => ids.includes(id))
      const isOwn = (eventId: string) => own.some(({ id }) => id === eventId)
      removeDeliveries(
        state,
        state.deliveries.filter(({ shown }) => isOwn(shown.eventId)),
      )
      for (const { id, at } of own)
        if (state.receipts.has(id)) state.receipts.set(id, { at, unmatched: null })
      return own.length
    },
    mark: async () => '',
    passed: async () => true,
  }
}
