/**
 * An address as filters compare it: with small letters for A to Z. All other letters stay, because databases differ about
 * them.
 *
 * @example
 * lowerAddress('Ada@Example.com') // 'ada@example.com'
 */
export function lowerAddress(address: string): string {
  return address.replace(/[A-Z]+/g, (letters) => letters.toLowerCase())
}
