import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, onTestFinished, test } from 'vitest'
import { migrations as ofPostgres } from '../../../adapters/storage/postgres/migrations/index.ts'
import { migrations as ofSqlite } from '../../../adapters/storage/sqlite/migrations/index.ts'
import { carillon, spawnCarillon, writeConfig } from '../../support/command-line.ts'
import { describeWith } from '../../support/left-out.ts'
import { onPostgres, sharedPostgres, uniqueSchema, whyNoPostgres } from '../../support/postgres.ts'
import { temporaryDirectory } from '../../support/temporary-directory.ts'

const TEN = Array.from({ length: 10 })

function tenAtOnce(cwd: string) {
  return Promise.all(TEN.map(() => spawnCarillon(['migrate', '--json'], { cwd }).outcome))
}

function sqliteProject() {
  const cwd = temporaryDirectory(onTestFinished)
  writeConfig(cwd, { name: 'carillon.config.mjs' })
  const file = join(cwd, 'notifications.db')
  return { cwd, file, migrate: (...argv: readonly string[]) => carillon(['migrate', ...argv], { cwd }) }
}

describe('on SQLite', () => {
  const needed = ofSqlite.length

  test('ten processes migrate one file', async () => {
    const { cwd, migrate } = sqliteProject()
    for (const outcome of await tenAtOnce(cwd))
      expect(outcome).toEqual({ code: 0, out: '{"storage":"sqlite","migrated":true}\n', err: '' })
    expect(await migrate('--status')).toMatchObject({
      code: 0,
      out: `Schema version ${needed} of ${needed}. Nothing is pending.\n`,
    })
  })

  test('the status and a dry run create no file, and say what is pending', async () => {
    const { file, migrate } = sqliteProject()
    const status = await migrate('--status', '--json')
    expect(status.code).toBe(1)
    expect(JSON.parse(status.out)).toEqual({ version: 0, needed, pending: ofSqlite.map((_, at) => at + 1) })
    const dry = await migrate('--dry-run')
    expect(dry).toMatchObject({ code: 0, err: '' })
    for (const sql of ofSqlite) expect(dry.out).toContain(sql.trim())
    expect(existsSync(file)).toBe(false)
    await migrate()
    expect(await migrate('--dry-run')).toMatchObject({ code: 0, out: '' })
  })

  test.for([
    ['an absolute URI', (cwd: string) => pathToFileURL(join(cwd, 'my data.db')).href],
    ['a relative URI', () => 'file:my%20data.db?cache=private'],
  ] as const)('the status of %s creates no file, and finds one', async ([, uri]) => {
    const cwd = temporaryDirectory(onTestFinished)
    const more = `storage: sqlite({ file: '${uri(cwd)}' }),`
    writeConfig(cwd, { name: 'carillon.config.mjs', more })
    const migrate = (...argv: readonly string[]) => spawnCarillon(['migrate', ...argv], { cwd }).outcome
    expect((await migrate('--status')).code).toBe(1)
    expect(existsSync(join(cwd, 'my data.db'))).toBe(false)
    expect((await migrate()).code).toBe(0)
    expect((await migrate('--status')).code).toBe(0)
  })

  test('an older schema has the steps that it lacks, and a newer one is refused', async () => {
    const { file, migrate } = sqliteProject()
    await migrate()
    const { DatabaseSync } = await import('node:sqlite')
    const change = (sql: string) => {
      const database = new DatabaseSync(file)
      database.exec(sql)
      database.close()
    }
    change(`DELETE FROM carillon_schema_version WHERE version = ${needed}`)
    const dry = await migrate('--dry-run', '--json')
    expect(JSON.parse(dry.out)).toEqual({ version: needed, sql: ofSqlite.at(-1) })
    expect((await migrate('--status')).out).toContain(`"carillon migrate" applies ${needed}.`)
    change(`INSERT INTO carillon_schema_version (version, applied_at) VALUES (${needed + 1}, 0)`)
    expect(await migrate('--status')).toMatchObject({
      code: 3,
      err: expect.stringContaining('Update Carillon'),
    })
  })
})

describeWith(whyNoPostgres(), 'on PostgreSQL', () => {
  async function postgresProject() {
    const cwd = temporaryDirectory(onTestFinished)
    const schema = uniqueSchema()
    const url = await sharedPostgres()
    const more = `storage: postgres({ connectionString: ${JSON.stringify(url)}, schema: '${schema}' }),`
    writeConfig(cwd, { name: 'carillon.config.mjs', more })
    return {
      cwd,
      schema,
      url,
      migrate: (...argv: readonly string[]) => carillon(['migrate', ...argv], { cwd }),
    }
  }

  test('ten processes migrate one schema, each step once', async () => {
    const { cwd, schema, url, migrate } = await postgresProject()
    const before = await migrate('--status', '--json')
    expect(before.code).toBe(1)
    expect(JSON.parse(before.out)).toMatchObject({ version: 0, needed: ofPostgres.length })
    const dry = await migrate('--dry-run')
    expect(dry.out).toContain(`"${schema}".`)
    expect(dry.out).not.toMatch(/\bcarillon\./)
    for (const outcome of await tenAtOnce(cwd))
      expect(outcome).toEqual({ code: 0, out: '{"storage":"postgres","migrated":true}\n', err: '' })
    const { rows } = await onPostgres(url, (client) =>
      client.query(`SELECT version FROM "${schema}".schema_version ORDER BY version`),
    )
    expect(rows.map(({ version }) => version)).toEqual(ofPostgres.map((_, at) => at + 1))
    expect(await migrate('--status')).toMatchObject({ code: 0 })
  })
})
