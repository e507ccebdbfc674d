/** The context of a test. Those of vitest and node:test can report it as skipped. */
export interface TestContext {
  skip(reason?: string): void
}

/**
 * The `test` function of vitest, node:test or a similar runner. Checks of features that a plug-in lacks are reported as
 * skipped, with the reason, if the runner passes a {@link TestContext}.
 */
export type TestApi = (name: string, run: (...context: [context?: TestContext]) => Promise<void>) => void

/**
 * Prefix of the reason for a skipped check of an optional feature.
 *
 * @internal
 */
export const ABSENT = 'Optional, and absent: '

/** Thrown by a check of a feature that the plug-in lacks. */
export class Absent extends Error {}

/** The same runner, which reports checks that throw {@link Absent} as skipped. */
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
