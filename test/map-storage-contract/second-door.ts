import { organizationKind } from 'carillon/storage-kit'
import type { SecondDoor } from 'carillon/testing'
import { type Job, type State, where } from '../map-storage/state.ts'

/** Reads the rows for the contract. */
export function secondDoor(state: State): SecondDoor {
  function stateOf({ leaseUntil, dueAt, recovered }: Job): 'ready' | 'waiting' | 'leased' | 'recovered' {
    if (leaseUntil !== null) return 'leased'
    if (dueAt > state.now()) return 'waiting'
    return recovered ? 'recovered' : 'ready'
  }
  const unmatched = () =>
    [...state.receipts.values()].map((row) => row.unmatched).filter((report) => report !== null)
  const sent = () => state.events.filter(({ fact }) => JSON.parse(fact).providerMessageId !== undefined)

  return {
    async notifications() {
      return [...state.notifications.values()].map(({ id, organization: organizationId, status }) => {
        return { id, organizationId, status: status ?? 'queued' }
      })
    },
    async jobs() {
      return [...state.jobs.values()].map((job) => {
        const { jobId: id, lane, organizationId, attempts } = job
        return { id, lane, organizationId, attempts, state: stateOf(job) }
      })
    },
    async events() {
      return state.events.map(({ notification, sequence, status, fact }) => {
        return { notificationId: notification.id, sequence, status, type: JSON.parse(fact).type }
      })
    },
    async deliveries() {
      return state.deliveries.map(({ endpoint: endpointId, shown }) => {
        return { endpointId, eventId: shown.eventId, state: shown.state, attempts: shown.attempts.length }
      })
    },
    async idempotency() {
      return [...state.idempotency.values()].map(({ record: { fingerprint, admitted } }) => ({
        fingerprint,
        admitted,
      }))
    },
    async dependents() {
      return {
        handovers: sent().filter(({ fact }) => JSON.parse(fact).type === 'sent').length,
        deliveryAttempts: state.deliveries.flatMap(({ shown }) => shown.attempts).length,
        receipts: state.receipts.size,
        unmatchedReceipts: unmatched().length,
      }
    },
    async owned(id) {
      const own = (row: { readonly organization: string }): boolean => row.organization === id
      const organizations = where(state.records, { kind: organizationKind.name, id })
      const counts = {
        organizations: organizations.length,
        notifications: [...state.notifications.values()].filter(own).length,
        events: state.events.filter(({ notification }) => own(notification)).length,
        jobs: where(state.jobs.values(), { organizationId: id }).length,
        deliveries: state.deliveries.filter(own).length,
        endpoints: [...state.endpoints.values()].filter(own).length,
        records: state.records.filter(own).length,
        usage: [...state.usage.keys()].filter((key) => key.startsWith(`${id}\n`)).length,
        unmatched: unmatched().filter((report) => report?.organizationId === id).length,
      }
      return Object.fromEntries(Object.entries(counts).filter(([, count]) => count > 0))
    },
  }
}
