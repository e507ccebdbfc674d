import { filesOf, isNamedUpload, type NamedUpload } from '../accept/named-uploads.ts'
import { uploadGone } from '../accept/upload.ts'

/** The source of the contents of uploads, for the attempts that need them. */
export interface UploadContents {
  /**
   * The parts of a message, in which each named upload has its bytes as `content`. Undefined: they name none. Attempts share
   * the bytes, which must not be changed.
   *
   * @param isWanted default: all
   * @throws NotifierError `unknown_attachment` if one is missing
   */
  into<Parts>(parts: Parts, isWanted?: (file: NamedUpload) => boolean): Promise<Parts> | undefined
}

/** For a service without uploads. A message that was accepted with one fails. */
export const NO_UPLOADS: UploadContents = {
  into: (parts) => (filesOf(parts).some(isNamedUpload) ? Promise.reject(uploadGone()) : undefined),
}
