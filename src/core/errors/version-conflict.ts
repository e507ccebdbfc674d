import { NotifierError } from './notifier-error.ts'

/** The refusal of a change that is based on an older version. @param changed such as `The template "welcome"` */
export function versionConflict(changed: string, version: number): NotifierError {
  return new NotifierError('version_conflict', {
    message: `${changed} now has version ${version}. Read it again, and apply the change to that version.`,
    details: { field: 'version', version },
  })
}
