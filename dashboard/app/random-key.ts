/** A key that makes a request safe to repeat. `crypto.randomUUID` is missing where the page came over plain HTTP. */
export function randomKey(): string {
  return [...crypto.getRandomValues(new Uint8Array(16))]
    .map((byte) => byte.toString(16).padStart(2, '0'))
    .join('')
}
