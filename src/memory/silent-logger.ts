import type { Logger } from '../ports/logger.ts'

/** Reports nothing: a library does not write to the console of its host. */
export function silentLogger(): Logger {
  const ignore = (): void => {}
  return { debug: ignore, info: ignore, warn: ignore, error: ignore }
}
