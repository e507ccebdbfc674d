import { createHeap, type Heap } from './heap.ts'

/** The fields of a job for the round-robin. */
interface Waiting {
  readonly number: number
  readonly organizationId: string
  readonly state: string
}

/**
 * The ready jobs of a lane and priority: round-robin over organizations, oldest job first. A job that was claimed by
 * id, cancelled or held stays in the heap until its state shows that it is stale.
 */
export interface RoundRobin<Item extends Waiting> {
  /** Number of ready jobs. */
  count: number
  readonly byOrganization: Map<string, Heap<Item>>
  /** Organizations in order; those before `next` are done. */
  order: string[]
  next: number
}

export function createRoundRobin<Item extends Waiting>(): RoundRobin<Item> {
  return { count: 0, byOrganization: new Map(), order: [], next: 0 }
}

export function addReady<Item extends Waiting>(queue: RoundRobin<Item>, job: Item): void {
  queue.count += 1
  let heap = queue.byOrganization.get(job.organizationId)
  if (heap === undefined) {
    heap = createHeap()
    queue.byOrganization.set(job.organizationId, heap)
    queue.order.push(job.organizationId)
  }
  heap.push(job.number, job)
}

/**
 * Removes and returns the next job. Undefined: none is ready.
 *
 * @param permits false: the organization has no turn
 */
export function takeReady<Item extends Waiting>(
  queue: RoundRobin<Item>,
  permits: (organization: string) => boolean,
): Item | undefined {
  for (let passedOver = 0; passedOver < queue.byOrganization.size; ) {
    const organization = queue.order[queue.next]
    if (organization === undefined) return undefined
    queue.next += 1
    if (queue.next * 2 > queue.order.length) {
      queue.order = queue.order.slice(queue.next)
      queue.next = 0
    }
    if (!permits(organization)) {
      passedOver += 1
      queue.order.push(organization)
      continue
    }
    const heap = queue.byOrganization.get(organization)
    const job = heap === undefined ? undefined : popReady(heap)
    if (heap?.peek() === undefined) queue.byOrganization.delete(organization)
    else queue.order.push(organization)
    if (job !== undefined) {
      queue.count -= 1
      return job
    }
  }
  return undefined
}

function popReady<Item extends Waiting>(heap: Heap<Item>): Item | undefined {
  for (let entry = heap.pop(); entry !== undefined; entry = heap.pop()) {
    if (entry.value.state === 'ready') return entry.value
  }
  return undefined
}
