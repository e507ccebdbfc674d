/** Strokes on a grid of 24. */
const PATHS = {
  overview: 'M4 13h6V4H4zM14 20h6v-9h-6zM4 20h6v-3H4zM14 4v3h6V4z',
  notifications: 'M4 6h16v12H4zM4 7l8 6 8-6',
  failures: 'M12 4 2.5 20h19zM12 10v4M12 17v.5',
  templates: 'M6 3h9l4 4v14H6zM14 3v5h5M9 12h7M9 16h7',
  keys: 'M8 11a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM11 12 20 3M17 6l3 3M14 9l2 2',
  webhooks: 'M9 8a3 3 0 1 1 4 2.8l-3 5.2M6 13a3 3 0 1 0 3 4h6M18 19a3 3 0 1 0-2-5l-3-5',
  suppressions: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM5.6 5.6l12.8 12.8',
  recipients: 'M12 4a4 4 0 1 0 0 8 4 4 0 0 0 0-8zM4 21a8 8 0 0 1 16 0',
  categories: 'M4 5h4v4H4zM4 15h4v4H4zM12 7h8M12 17h8',
  quietHours: 'M20 14.5A8.5 8.5 0 0 1 9.5 4a8.5 8.5 0 1 0 10.5 10.5z',
  limits: 'M4 18a9 9 0 1 1 16 0M12 14l4-5',
  auditLog: 'M5 4h14v16H5zM8 8h8M8 12h8M8 16h4',
  organizations: 'M4 21V5l8-2v18M12 8h8v13M2 21h20M7 8h2M7 12h2M7 16h2M15 12h2M15 16h2',
  operations: 'M3 12h4l3 7 4-14 3 7h4',
  close: 'M6 6l12 12M18 6 6 18',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  check: 'M5 12l5 5L20 7',
  plus: 'M12 5v14M5 12h14',
  trash: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5M14 11v5',
  menu: 'M4 7h16M4 12h16M4 17h16',
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14zM16 16l4 4',
  refresh: 'M20 11a8 8 0 1 0-2 6M20 5v6h-6',
  out: 'M14 4h6v16h-6M10 8l-4 4 4 4M6 12h10',
  pause: 'M8 5v14M16 5v14',
  play: 'M7 5l12 7-12 7z',
  right: 'M9 6l6 6-6 6',
  left: 'M15 6l-6 6 6 6',
  send: 'M4 12 20 4l-5 16-4-6zM11 14l4-4',
  edit: 'M4 20l1-5L16 4l4 4L9 19zM14 6l4 4',
  clock: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18zM12 7v5l3 2',
} as const

export type IconName = keyof typeof PATHS

/** A sign that says nothing to screen readers: a text or a label stands beside it. */
export function Icon({ name }: { readonly name: IconName }) {
  return (
    <svg class="icon" viewBox="0 0 24 24" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  )
}
