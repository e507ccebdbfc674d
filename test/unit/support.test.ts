import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import manifest from '../../package.json' with { type: 'json' }
import { fromRoot } from '../../scripts/entries.mjs'
import { POSTGRES, RUNTIMES } from '../../scripts/tested-versions.mjs'

// A test of test/package/docs.test.ts keeps the page as generated.
const page = readFileSync(fromRoot('docs/reference/support.md'), 'utf8')
const { jobs } = parse(readFileSync(fromRoot('.github/workflows/ci.yml'), 'utf8'))

/** The cells of the row that begins with a name. */
function row(name: string): readonly string[] {
  const line = page.split('\n').find((each) => each.startsWith(`| ${name} |`)) ?? ''
  return line
    .split('|')
    .map((cell) => cell.trim())
    .slice(2, -1)
}

const majors = (versions: string): string[] =>
  versions.split(', ').map((version) => version.split('.')[0] ?? '')

describe('the supported versions', () => {
  it('of Node.js begin with that of package.json, and CI runs the oldest, the newest and all between', () => {
    const minimum = manifest.engines.node.replace('>=', '')
    expect(row('Node.js')).toEqual([
      `from ${minimum} on`,
      expect.stringMatching(new RegExp(`^${minimum}\\.0, `)),
    ])
    expect(RUNTIMES[0]).toBe(`node@${minimum}.0`)
    const inCi: string[] = jobs.node.strategy.matrix.node
    expect(inCi[0]).toBe(minimum)
    expect(inCi.slice(1)).toEqual(majors(row('Node.js')[1] ?? ''))
  })

  it('of PostgreSQL are those that CI runs', () => {
    const tested = POSTGRES.map((version) => version.split('.')[0])
    expect(jobs.postgres.strategy.matrix.version).toEqual(tested)
    expect(row('PostgreSQL')).toEqual([`from ${tested[0]} on`, tested.join(', ')])
  })

  it('of TypeScript are those that the types are compiled with', () => {
    const test = readFileSync(fromRoot('test/package/compilers.release.test.ts'), 'utf8')
    const compilers = [...new Set(test.match(/typescript\d\.\d/g))].map((name) =>
      name.replace('typescript', ''),
    )
    expect(compilers.length).toBeGreaterThan(0)
    for (const version of compilers) expect(row('TypeScript')[1]?.split(', ')).toContain(version)
    expect(row('TypeScript')[0]).toBe(`from ${compilers.sort()[0]} on`)
  })

  it.each(Object.entries(manifest.peerDependencies))(
    'of the peer %s include its newest, which is tested',
    (name, range) => {
      const [supported = '', tested = ''] = row(`\`${name}\``)
      expect(supported.replaceAll('`, `', ' || ')).toBe(`\`${range}\``)
      const newest = /\^(\d+)\.(\d+)[^|]*$/.exec(range)
      const line = newest?.[1] === '0' ? `0.${newest[2]}` : newest?.[1]
      const last = tested.split(', ').at(-1) ?? ''
      expect(last === line || last.startsWith(`${line}.`), `${tested} of ${range}`).toBe(true)
    },
  )
})
