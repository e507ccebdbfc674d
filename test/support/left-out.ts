import { describe } from 'vitest'
import { MARK } from './left-out-reporter.ts'

/**
 * Tests that need something of the machine. Where it has none they are left out: counted and named at the end of the
 * run, which in CI is a failure.
 *
 * @param reason what is missing; null: nothing
 */
export function describeWith(reason: string | null, name: string, tests: () => void): void {
  if (reason === null) describe(name, tests)
  else describe.skip(`${name}${MARK}${reason}`, tests)
}

/** The same for several cases, each of which may miss something of its own. `%s` in the name is that of the case. */
export function describeEachWith<Rest extends readonly unknown[]>(
  cases: readonly (readonly [name: string, ...rest: Rest])[],
  missing: (name: string) => string | null,
  name: string,
  tests: (...each: readonly [name: string, ...rest: Rest]) => void,
): void {
  for (const each of cases)
    describeWith(
      missing(each[0]),
      name.replace('%s', () => each[0]),
      () => tests(...each),
    )
}
