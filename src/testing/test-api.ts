/** What a runner hands a test. Those of vitest and node:test can report it as skipped. */
export interface TestContext {
  skip(reason?: string): void
}

/**
 * What a contract needs of a test runner: `test` of vitest, node:test or any other fits. What concerns a feature that the
 * plug-in lacks is reported as skipped, with the reason, where the runner hands a {@link TestContext}.
 */
export type TestApi = (name: string, run: (...context: [context?: TestContext]) => Promise<void>) => void

/**
 * Begins the reason of a check that is skipped because the plug-in lacks an optional feature.
 *
 * @internal
 */
export const ABSENT = 'Optional, and absent: '

/** Thrown by a check where the plug-in lacks what it is about. */
export class Absent extends Error {}

/** The same runner, with checks that throw {@link Absent} reported as skipped. */
export function skippable(test: TestApi): (name: string, check: () => Promise<void>) => void {
  return (name, check) =>
    // A declared parameter would make some runners wait for a callback.
    test(name, async (...[context]) => {
      try {
        await check()
      } catch (error) {
        if (!(error instanceof Absent)) throw error
        context?.skip(`${ABSENT}${error.message}`)
      }
    })
}
