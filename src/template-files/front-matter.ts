import { fileError } from './file-error.ts'

/** The fields before a text, and the text. */
export interface Matter {
  readonly fields: Readonly<Record<string, unknown>>
  /** The line of each field, from 1. */
  readonly lines: ReadonlyMap<string, number>
  readonly text: string
}

const NONE: ReadonlyMap<string, number> = new Map()
const FIELD = /^([A-Za-z]+):(?: +(.*))?$/
/** Text that YAML reads differently. */
const NOT_PLAIN =
  /^$|^[-?:,[\]{}#&*!|>'"%@`]|: |:$| #|^(?:null|true|false|yes|no|on|off|~|[-+.\d][\w.+:-]*)$|[\p{Cc}\u2028\u2029\ufeff]|^\s|\s$/iu

/**
 * Reads front matter: lines of `name: value` between two lines of `---`, as YAML has them. A value is plain text, or JSON.
 *
 * @throws NotifierError `invalid_parameter`, which names the file and the line
 */
export function readMatter(source: string, file: string): Matter {
  const unmarked = source.startsWith('\uFEFF---') ? source.slice(1) : source
  const opening = /^---\r?\n/.exec(unmarked)?.[0]
  if (opening === undefined) return { fields: {}, lines: NONE, text: source }
  const fields: Record<string, unknown> = {}
  const lines = new Map<string, number>()
  let at = opening.length
  for (let line = 2; ; line += 1) {
    const end = unmarked.indexOf('\n', at)
    if (end === -1)
      throw fileError(file, 'The front matter does not end. Write a line of "---" after it.', line)
    const row = withoutEnd(unmarked.slice(at, end))
    at = end + 1
    if (row === '---') return { fields, lines, text: unmarked.slice(at) }
    if (row === '' || row.startsWith('#')) continue
    const [, name, value = ''] = FIELD.exec(row) ?? []
    if (name === undefined) throw fileError(file, 'A line of the front matter must be "name: value".', line)
    if (lines.has(name)) throw fileError(file, `"${name}" is given twice. Remove one.`, line)
    lines.set(name, line)
    fields[name] = readValue(value, file, line)
  }
}

/** A line without the white space that YAML leaves out, which is less than Unicode's. */
function withoutEnd(line: string): string {
  let end = line.length
  while (end > 0 && ' \t\r'.includes(line.charAt(end - 1))) end -= 1
  return line.slice(0, end)
}

function readValue(value: string, file: string, line: number): unknown {
  if (/^["{[]/.test(value)) {
    try {
      return JSON.parse(value)
    } catch (cause) {
      throw fileError(
        file,
        'The value begins like JSON, and is none. Correct it, or put the whole in quotation marks.',
        line,
        cause,
      )
    }
  }
  if (NOT_PLAIN.test(value))
    throw fileError(file, `Put the value in quotation marks: ${JSON.stringify(value)}.`, line)
  return value
}

/** Writes a text with its fields before it; without fields, only if it would be read differently. */
export function writeMatter(fields: Readonly<Record<string, unknown>>, text: string): string {
  const rows = Object.entries(fields).map(([name, value]) => `${name}: ${written(value)}\n`)
  const needed = rows.length > 0 || /^\uFEFF?---\r?\n/.test(text)
  return needed ? `---\n${rows.join('')}---\n${text}` : text
}

function written(value: unknown): string {
  if (typeof value === 'string' && !NOT_PLAIN.test(value)) return value
  // YAML has line breaks that JSON does not escape.
  return JSON.stringify(value).replace(/[\u0085\u2028\u2029\ufeff]/g, escaped)
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
