/**
 * Describes the fault of a server address, for use after the option's name. Null: valid. The result never contains the
 * address, which may hold a password.
 *
 * @param schemes for example `redis`
 */
export function urlFault(url: unknown, schemes: readonly string[]): string | null {
  const text = typeof url === 'string' ? url : ''
  if (!schemes.some((scheme) => text.startsWith(`${scheme}://`)))
    return `must begin with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}.`
  // `pg` accepts a user without a host as a Unix socket.
  if (URL.canParse(text.replace('@/', '@host/'))) return null
  return 'is not a valid URL. Encode user and password with encodeURIComponent(), and check the port.'
}
