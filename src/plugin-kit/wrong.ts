import { invalidOption } from '../core/errors/invalid-option.ts'

/** The error of a wrong plug-in. */
export function wrong(name: unknown, fault: string, cause?: unknown): Error {
  return invalidOption('plugins', `The plug-in "${String(name)}" ${fault}.`, cause)
}
