import type { Logger } from '../ports/logger.ts'

/** Logs nothing: a library does not write to its host's console. */
export function silentLogger(): Logger {
  const ignore = (): void => {}
  return { debug: ignore, info: ignore, warn: ignore, error: ignore }
}
