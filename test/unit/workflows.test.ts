import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import manifest from '../../package.json' with { type: 'json' }
import { fromRoot } from '../../scripts/entries.mjs'

interface Step {
  readonly uses?: string
  readonly run?: string
  readonly with?: Readonly<Record<string, unknown>>
}

interface Job {
  readonly uses?: string
  readonly needs?: string | readonly string[]
  readonly environment?: string
  readonly permissions?: Readonly<Record<string, string>>
  readonly 'timeout-minutes'?: number
  readonly steps?: readonly Step[]
}

interface Workflow {
  readonly permissions?: Readonly<Record<string, string>>
  readonly jobs: Readonly<Record<string, Job>>
}

const FOLDER = fromRoot('.github/workflows')

const texts = readdirSync(FOLDER).map((file) => [file, readFileSync(`${FOLDER}/${file}`, 'utf8')] as const)
const workflows = new Map(texts.map(([file, text]): [string, Workflow] => [file, parse(text)]))
const jobs = [...workflows].flatMap(([file, workflow]) =>
  Object.entries(workflow.jobs).map(([name, job]) => [`${file}: ${name}`, job] as const),
)
const stepsOf = (job: Job | undefined): readonly Step[] => job?.steps ?? []

describe('workflows', () => {
  it('call only scripts and files that exist', () => {
    const called = jobs.flatMap(([, job]) => stepsOf(job).flatMap(({ run = '' }) => commandsOf(run)))
    expect(called).toEqual(expect.arrayContaining(['npm run test', 'npm run release:check', '.ci/run']))
    const missing = called.filter((command) => {
      const [, script] = /^npm run (.+)$/.exec(command) ?? []
      return script === undefined ? !existsSync(fromRoot(command)) : !(script in manifest.scripts)
    })
    expect(missing).toEqual([])
  })

  it.each(texts)('%s names actions by commit and version', (_, text) => {
    const used = text.split('\n').filter((line) => /\buses: (?!\.\/)/.test(line))
    expect(used.length).toBeGreaterThan(0)
    for (const line of used) expect(line).toMatch(/uses: [\w-]+\/[\w-]+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/)
  })

  it('read by default, and write in one job each', () => {
    for (const { permissions } of workflows.values()) expect(permissions).toEqual({ contents: 'read' })
    const more = jobs.flatMap(([name, { permissions }]) => (permissions ? [[name, permissions]] : []))
    expect(more).toEqual([
      ['release.yml: publish', { 'id-token': 'write' }],
      ['release.yml: announce', { contents: 'write' }],
    ])
  })

  it('keep no credentials, no long-lived token and no cache, and end in time', () => {
    for (const [file, text] of texts)
      expect(text, file).not.toMatch(/secrets\.|NODE_AUTH_TOKEN|actions\/cache/)
    for (const [name, job] of jobs) {
      if (job.uses === undefined) expect(job['timeout-minutes'], name).toBeLessThanOrEqual(90)
      for (const { uses = '', with: options } of stepsOf(job)) {
        if (uses.startsWith('actions/checkout@'))
          expect(options, name).toMatchObject({ 'persist-credentials': false })
        if (uses.startsWith('actions/setup-node@')) {
          expect(options, name).toMatchObject({ 'package-manager-cache': false })
          expect(options, name).not.toHaveProperty('cache')
        }
      }
    }
  })

  it('publish only what all tests have passed, by a job that runs no code of the repository', () => {
    const { tests, package: packing, publish, announce } = workflows.get('release.yml')?.jobs ?? {}
    expect([tests?.uses, packing?.needs, publish?.needs, announce?.needs]).toEqual([
      './.github/workflows/ci.yml',
      'tests',
      'package',
      ['package', 'publish'],
    ])
    expect(publish?.environment).toBe('npm')
    expect(stepsOf(publish).filter(({ uses }) => uses?.startsWith('actions/checkout@'))).toEqual([])
    expect(stepsOf(publish).flatMap(({ run }) => run ?? [])).toEqual([
      'npm publish "./carillon-$VERSION.tgz" --provenance --access public',
    ])
    const publishing = jobs.filter(([, job]) => stepsOf(job).some(({ run }) => run?.includes('npm publish')))
    expect(publishing.map(([name]) => name)).toEqual(['release.yml: publish'])
  })

  it('take no text of an event into a script', () => {
    for (const [name, job] of jobs) {
      for (const { run = '' } of stepsOf(job))
        expect(run.replaceAll(/\$\{\{ matrix\.\w+ \}\}/g, ''), name).not.toContain('${{')
    }
  })
})

/** The npm scripts and the files that a step calls. */
function commandsOf(run: string): string[] {
  const scripts = [...run.matchAll(/\bnpm (?:run )?(?!ci\b|publish\b|run\b)([\w:-]+)/g)].map(
    ([, script = '']) => `npm run ${script}`,
  )
  const files = [...run.matchAll(/(?<![\w/-])(?:\.ci|scripts)\/[\w.-]+/g)].map(([file]) => file)
  return [...scripts, ...files]
}
