import type { Reporter, TestCase, TestModule, TestSuite } from 'vitest/node'
import { ABSENT } from '../../src/testing/test-api.ts'

/** Between the name of a suite and what it misses. */
export const MARK = ' · left out: '

const ABSENT_FEATURES = 'a feature that a plug-in may lack'

/** What a run may do without: in CI only what its environment names. */
function mayLeaveOut(reason: string): boolean {
  if (reason === ABSENT_FEATURES) return true
  const { CI, CARILLON_TEST_LEAVE_OUT: named = '' } = process.env
  if (CI === undefined || named === 'all') return true
  return named
    .split(',')
    .filter((name) => name !== '')
    .some((name) => reason.startsWith(`no ${name}`))
}

function reasonOf(test: TestCase): string {
  const result = test.result()
  if (result.state === 'skipped' && result.note?.startsWith(ABSENT) === true) return ABSENT_FEATURES
  for (let above: TestSuite | TestModule = test.parent; above.type === 'suite'; above = above.parent) {
    const at = above.name.lastIndexOf(MARK)
    if (at >= 0) return above.name.slice(at + MARK.length)
  }
  return `skipped by the code, the first in ${test.module.relativeModuleId}`
}

/** Says at the end of a run how many tests could not run, and why. */
export function leftOutReporter(): Reporter {
  let filtered = false
  return {
    onInit({ config }) {
      filtered = config.testNamePattern !== undefined
    },
    onTestRunEnd(modules) {
      // Those that a pattern passes over are skipped, too.
      if (filtered) return
      const counts = new Map<string, number>()
      for (const test of modules.flatMap((module) => [...module.children.allTests('skipped')])) {
        const reason = reasonOf(test)
        counts.set(reason, (counts.get(reason) ?? 0) + 1)
      }
      for (const [reason, count] of counts) {
        const allowed = mayLeaveOut(reason)
        process.stdout.write(`Left out${allowed ? '' : ', which must not be'}: ${count} tests: ${reason}\n`)
        if (!allowed) process.exitCode = 1
      }
    },
  }
}
