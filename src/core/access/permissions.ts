/** Permission levels, lowest first. */
export const PERMISSIONS = ['Read Only', 'Write', 'Full Access'] as const

/** `Read Only`: view. `Write`: also send. `Full Access`: everything, including deletion. */
export type Permission = (typeof PERMISSIONS)[number]

const levels: Readonly<Record<Permission, number>> = { 'Read Only': 0, Write: 1, 'Full Access': 2 }

/** True: the level `granted` includes the level `needed`. */
export function permits(granted: Permission, needed: Permission): boolean {
  return levels[granted] >= levels[needed]
}

/** Rights in addition to the permission level; no level includes any. */
export const GRANTS = ['content'] as const

/** `content`: read the text of messages. */
export type Grant = (typeof GRANTS)[number]
