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
export interface Turns<Item extends Waiting> {
  /** Jobs that are ready. */
  count: number
  readonly byOrganization: Map<string, Heap<Item>>
  /** Organizations in the order of their turns; those before `next` have had theirs. */
  order: string[]
  next: number
}

export function createTurns<Item extends Waiting>(): Turns<Item> {
  return { count: 0, byOrganization: new Map(), order: [], next: 0 }
}

export function addReady<Item extends Waiting>(turns: Turns<Item>, job: Item): void {
  turns.count += 1
  let heap = turns.byOrganization.get(job.organizationId)
  if (heap === undefined) {
    heap = createHeap()
    turns.byOrganization.set(job.organizationId, heap)
    turns.order.push(job.organizationId)
  }
  heap.push(job.number, job)
}

/** The job whose turn it is, removed; undefined: none is ready. */
export function takeReady<Item extends Waiting>(turns: Turns<Item>): Item | undefined {
  for (;;) {
    const organization = turns.order[turns.next]
    if (organization === undefined) return undefined
    turns.next += 1
    if (turns.next * 2 > turns.order.length) {
      turns.order = turns.order.slice(turns.next)
      turns.next = 0
    }
    const heap = turns.byOrganization.get(organization)
    const job = heap === undefined ? undefined : popReady(heap)
    if (heap?.peek() === undefined) turns.byOrganization.delete(organization)
    else turns.order.push(organization)
    if (job !== undefined) {
      turns.count -= 1
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
