/** How the application identifies a notification. */
export interface Labels {
  /** Short texts by name, such as an order number. Null: none. */
  readonly metadata: Readonly<Record<string, string>> | null
  /** The application's id of the person. Null: sent to an address. */
  readonly recipient: string | null
  /** Stable id of the category. Null: none was named. */
  readonly category: string | null
  /** `grp_` and 22 characters, shared by what was sent to several addresses of one person. Null: one address. */
  readonly groupId: string | null
}

/** Labels to store. Absent: null. */
export type PartialLabels = { readonly [Name in keyof Labels]?: Labels[Name] | undefined }

/** Selects notifications by their labels. */
export interface LabelFilter {
  /** All of these pairs. */
  readonly metadata?: Readonly<Record<string, string>> | undefined
  readonly recipient?: string | undefined
  readonly category?: string | undefined
  readonly groupId?: string | undefined
}

/** Whether anything is labelled at all. */
export function hasLabels({ metadata, recipient, category, groupId }: PartialLabels): boolean {
  return (metadata ?? recipient ?? category ?? groupId ?? null) !== null
}

/**
 * Whether labels match a filter.
 *
 * @example
 * const filter = { recipient: 'user_42', metadata: { order: 'ord_123' } }
 * const found = notifications.filter((each) => matchesLabels(each, filter))
 */
export function matchesLabels(labels: Labels, filter: LabelFilter): boolean {
  return (
    (filter.recipient === undefined || labels.recipient === filter.recipient) &&
    (filter.category === undefined || labels.category === filter.category) &&
    (filter.groupId === undefined || labels.groupId === filter.groupId) &&
    Object.entries(filter.metadata ?? {}).every(([name, value]) => metadataOf(labels, name) === value)
  )
}

function metadataOf({ metadata }: Labels, name: string): string | undefined {
  return metadata !== null && Object.hasOwn(metadata, name) ? metadata[name] : undefined
}

/** The labels that are present, for payloads that omit the others. */
export function presentLabels(labels: Labels): Partial<NonNullLabels> {
  if (!hasLabels(labels)) return NONE
  return Object.fromEntries(NAMES.flatMap((name) => (labels[name] === null ? [] : [[name, labels[name]]])))
}

/** Labels with values. */
export type NonNullLabels = { readonly [Name in keyof Labels]: NonNullable<Labels[Name]> }

const NAMES = ['metadata', 'recipient', 'category', 'groupId'] as const
const NONE = {}

/** Most characters of the application's id of a person. */
export const MAX_RECIPIENT_ID = 255
