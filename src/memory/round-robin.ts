import { createHeap, type Heap } from './heap.ts'

/** What taking turns needs to know of a job. */
interface Waiting {
  readonly number: number
  readonly organizationId: string
  readonly state: string
}

/**
 * The ready jobs of one lane and priority: organizations take turns, and each hands out its oldest job.
 * A job that was claimed by id, cancelled or held stays in the heap; it is recognized by its state and dropped.
 */
export interface RoundRobin<Item extends Waiting> {
  /** Jobs that are ready. */
  count: number
  readonly byOrganization: Map<string, Heap<Item>>
  /** Organizations in the order of their turns; those before `next` have had theirs. */
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

/** The job whose turn it is, removed; undefined: none is ready. */
export function takeReady<Item extends Waiting>(queue: RoundRobin<Item>): Item | undefined {
  for (;;) {
    const organization = queue.order[queue.next]
    if (organization === undefined) return undefined
    queue.next += 1
    if (queue.next * 2 > queue.order.length) {
      queue.order = queue.order.slice(queue.next)
      queue.next = 0
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
}

function popReady<Item extends Waiting>(heap: Heap<Item>): Item | undefined {
  for (let entry = heap.pop(); entry !== undefined; entry = heap.pop()) {
    if (entry.value.state === 'ready') return entry.value
  }
  return undefined
}
