/** Where the dashboard is mounted: its scripts lie in a folder just below. Ends with a slash. */
const base = new URL('../', import.meta.url)

/** The address of a path below the mount. */
export function addressOf(path: string): string {
  return new URL(path.replace(/^\//, ''), base).href
}

/** The path below the mount of an address; begins with a slash. */
export function pathOf(address: URL | Location): string {
  const { pathname } = address
  return pathname.startsWith(base.pathname) ? pathname.slice(base.pathname.length - 1) : '/'
}

/** A segment of a path, decoded; as it is, where it cannot be. */
export function decoded(segment: string): string {
  try {
    return decodeURIComponent(segment)
  } catch {
    return segment
  }
}
