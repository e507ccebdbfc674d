/** A text in files: `html`, `text` or both, or a `body`. Absent fields have no file. */
export interface FileText {
  readonly html?: string
  readonly text?: string
  /** In a mail, its source decides whether it is HTML. */
  readonly body?: string
}

/** The text of a template in another locale. */
export interface FileVariant extends FileText {
  readonly subject?: string
}

/** A template in files. */
export interface FileTemplate extends FileVariant {
  readonly channel: string
  readonly layout?: string
  readonly locale?: string
  readonly description?: string
  readonly category?: string
  readonly metadata?: Readonly<Record<string, string>>
  readonly locales?: Readonly<Record<string, FileVariant>>
}

/** A layout or partial in files. */
export interface FileShared extends Omit<FileText, 'body'> {
  readonly description?: string
}

/** The texts of a folder, by name. */
export interface TemplateFiles {
  readonly templates: Readonly<Record<string, FileTemplate>>
  readonly layouts: Readonly<Record<string, FileShared>>
  readonly partials: Readonly<Record<string, FileShared>>
  /** Messages by locale and key. */
  readonly messages: Readonly<Record<string, Readonly<Record<string, string>>>>
}

/** The fields of an object that have a value. */
export function present<Fields extends object>(
  fields: Fields,
): { [Name in keyof Fields]?: NonNullable<Fields[Name]> } {
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null)) as {
    [Name in keyof Fields]?: NonNullable<Fields[Name]>
  }
}

/** The names of fields that differ, such as `html` or `locales.de.subject`. */
export function differences(before: unknown, after: unknown, path = ''): string[] {
  if (isObject(before) && isObject(after)) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)])
    return [...names].flatMap((name) =>
      differences(before[name], after[name], path === '' ? name : `${path}.${name}`),
    )
  }
  return before === after ? [] : [path]
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}
