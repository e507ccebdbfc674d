import { createHash } from 'node:crypto'
import type { KeepingInsert } from '../ports/storage/records.ts'
import type { RecordKind } from '../records/record-kind.ts'

/** A text that is a separate record. */
export interface TextRef {
  /** Base64url. */
  readonly sha256: string
  /** Its length in UTF-8. */
  readonly bytes: number
}

/** A text as a record has it: itself, if it is short, or where it is. */
export type Text = string | TextRef

/** A text of a template, layout or partial, for all its versions. */
export interface TextValue {
  /** The id of the template, layout or partial. */
  readonly of: string
  readonly text: string
}

/** Its id is that of its owner with the hash, so that equal texts of versions are stored once. */
export const textKind: RecordKind<TextValue> = {
  name: 'texts',
  version: 1,
  notPersonal: 'text for all',
  list: ({ of }) => of,
}

/** From so many bytes on, a text is a separate record: a shorter one costs less than a record. */
const OWN_RECORD = 200

export function textId(of: string, { sha256 }: TextRef): string {
  return `${of}/${sha256}`
}

/** How a record is to have a text. */
export function textFor(text: string): Text {
  const bytes = Buffer.byteLength(text)
  return bytes < OWN_RECORD ? text : { sha256: sha256Of(text), bytes }
}

export function sha256Of(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}

export function insertText(
  of: string,
  organizationId: string | null,
  ref: TextRef,
  text: string,
): KeepingInsert<TextValue> {
  return {
    kind: textKind,
    do: 'insert',
    id: textId(of, ref),
    organizationId,
    value: { of, text },
    ifTaken: 'keep',
  }
}

export function bytesOf(text: Text): number {
  return typeof text === 'string' ? Buffer.byteLength(text) : text.bytes
}
