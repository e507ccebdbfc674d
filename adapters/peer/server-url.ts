/**
 * What is wrong with the address of a server, to follow the option's name in a message; null: nothing. The address itself
 * is never part of it, as it can carry a password.
 *
 * @param schemes such as `redis`
 */
export function urlFault(url: unknown, schemes: readonly string[]): string | null {
  const text = typeof url === 'string' ? url : ''
  if (!schemes.some((scheme) => text.startsWith(`${scheme}://`)))
    return `must begin with ${schemes.map((scheme) => `${scheme}://`).join(' or ')}.`
  // A user without a host is what `pg` takes for a socket.
  if (URL.canParse(text.replace('@/', '@host/'))) return null
  return 'cannot be read as a URL. Encode user and password with encodeURIComponent(), and check the port.'
}
