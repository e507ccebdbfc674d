/** What a contract needs of a test runner: `test` of vitest, node:test or any other fits. */
export type TestApi = (name: string, run: () => Promise<void>) => void
