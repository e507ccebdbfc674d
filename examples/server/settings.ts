import { accessSync, constants, mkdirSync } from 'node:fs'
import { resolve } from 'node:path'

export interface Settings {
  readonly port: number
  /** Absolute path of an existing, writable directory. */
  readonly dataDir: string
}

/** A user error, reported by its message alone. */
export class SettingError extends Error {}

/** @throws SettingError */
export function readSettings(env: NodeJS.ProcessEnv): Settings {
  return { port: readPort(env.PORT || '3000'), dataDir: prepareFolder(resolve(env.DATA_DIR || '.data')) }
}

function readPort(text: string): number {
  const port = Number(text)
  if (/^\d{1,5}$/.test(text) && port <= 65_535) return port
  throw new SettingError(`PORT must be a whole number from 0 to 65535; it is ${JSON.stringify(text)}.`)
}

/** Explains why the port is unavailable. */
export function portError(error: NodeJS.ErrnoException, port: number): unknown {
  switch (error.code) {
    case 'EADDRINUSE':
      return new SettingError(`Port ${port} is in use. Set PORT to another port, or to 0 for any free one.`)
    case 'EACCES':
      return new SettingError(`Port ${port} requires privileges. Set PORT to a port above 1023.`)
    default:
      return error
  }
}

function prepareFolder(folder: string): string {
  try {
    mkdirSync(folder, { recursive: true })
    accessSync(folder, constants.R_OK | constants.W_OK | constants.X_OK)
    return folder
  } catch (error) {
    const { code = 'unknown' } = error as NodeJS.ErrnoException
    throw new SettingError(`DATA_DIR must be a writable folder: ${folder} (${code}).`)
  }
}
