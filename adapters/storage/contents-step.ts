/** Bytes of contents that a step reads, except for the last one: some milliseconds of parsing. */
export const MOST_BYTES: number = 1024 * 1024

/**
 * The part of a step that removes expired contents: the first events, until their contents have enough bytes, however many
 * events the step may examine.
 *
 * @param contentOf the notification whose content an event removes, and the bytes of that; null: none
 *
 * @example
 * const { last, contents } = contentsStep(events, ({ seq, over, bytes }) => (over === 1 ? [seq, bytes] : null))
 */
export function contentsStep<Event, Key>(
  events: readonly Event[],
  contentOf: (event: Event) => readonly [notification: Key, bytes: number] | null,
): { readonly last: Event | undefined; readonly contents: readonly Key[] } {
  const contents = new Set<Key>()
  let last: Event | undefined
  let read = 0
  for (const event of events) {
    if (read >= MOST_BYTES) break
    last = event
    const [notification, bytes] = contentOf(event) ?? []
    if (notification === undefined || bytes === undefined || contents.has(notification)) continue
    contents.add(notification)
    read += bytes
  }
  return { last, contents: [...contents] }
}

/** The earliest of some times. Undefined: there is none. */
export function oldestOf(times: readonly number[]): number | undefined {
  return times.length === 0 ? undefined : Math.min(...times)
}
