import { NotifierError } from '../core/errors/notifier-error.ts'

/**
 * The error of a file.
 *
 * @param file relative to the folder
 * @param fault a sentence: what is wrong and what to do
 */
export function fileError(file: string, fault: string, line?: number, cause?: unknown): NotifierError {
  const place = line === undefined ? file : `${file}:${line}`
  return new NotifierError('invalid_parameter', {
    message: `${place}: ${fault}`,
    details: line === undefined ? { file } : { file, line },
    cause,
  })
}
