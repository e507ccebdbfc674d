interface Revised {
  readonly version: number
  readonly draft?: object
}

interface Described {
  readonly channel: string
  readonly version: number
  readonly layout: string | null
  readonly locale: string | null
  readonly locales: object
}

const NAMES: Readonly<Record<string, string>> = {
  name: 'Name',
  channel: 'Channel',
  description: 'Description',
  category: 'Category',
  layout: 'Layout',
  locale: 'Locale',
  subject: 'Subject',
  html: 'HTML',
  text: 'Text',
  body: 'Text',
}

const revision = ({ version, draft }: Revised): string =>
  draft === undefined ? `Version ${version}` : 'Another edit of the draft'

/** Texts about templates: their list, their editor and their versions. */
export const templates = {
  title: 'Templates',
  one: 'Template',
  intro: 'Texts with placeholders. Applications send them by name.',
  create: 'New template',
  createHint: 'Write {{name}} where a value belongs. The preview shows what recipients get.',
  search: 'Search by name',
  name: 'Name',
  nameHint:
    'Lower-case words joined by hyphens, such as welcome-email. Applications send the template by it.',
  channel: 'Channel',
  channelHint: 'It never changes afterwards.',
  noChannels: 'No channel is configured',
  description: 'Description',
  subject: 'Subject',
  subjectHint: 'May contain placeholders.',
  unusedHint: 'This channel sends no subject.',
  noSubject: 'None',
  category: 'Category',
  defaultCategory: 'Default',
  layout: 'Layout',
  noLayout: 'None',
  locale: 'Locale',
  locales: 'Locales',
  localeDefault: 'Default',
  addLocale: 'Add locale',
  newLocale: 'New locale',
  newLocaleHint: 'Such as de or pt-BR. It begins as a copy of the text that is shown.',
  badLocale: 'This is not a locale. Write one such as de, fr or pt-BR.',
  takenLocale: (locale: string) => `There is a text in ${locale} already.`,
  removeLocale: (locale: string) => `Remove ${locale}`,
  variantSubject: 'Empty: the subject of the template.',
  html: 'HTML',
  htmlHint:
    'Values are escaped; {{{name}}} inserts one as it is. Tab leaves the editor, Ctrl+F searches in it.',
  text: 'Text',
  textHint: 'Tab leaves the editor, Ctrl+F searches in it.',
  alternativeHint: 'For readers without HTML. Left empty, it is made of the HTML.',
  version: 'Version',
  versionOf: ({ channel, version, layout, locale, locales }: Described) =>
    [
      channel,
      `version ${version}`,
      ...(layout === null ? [] : [`layout ${layout}`]),
      ...(locale === null ? [] : [`in ${locale}`]),
      ...(Object.keys(locales).length === 0 ? [] : [`also in ${Object.keys(locales).join(', ')}`]),
    ].join(', '),
  changed: 'Changed',
  made: 'Created',
  author: 'Author',
  authorName: (author: { type: string; id: string; name: string | null } | null) =>
    author === null
      ? ''
      : author.type === 'code' && author.id === 'code'
        ? 'Application'
        : (author.name ?? author.id),
  current: 'Current',
  empty: 'No templates yet',
  emptyHint: 'Create one for each message that your application sends.',
  deleteTitle: (name: string) => `Delete “${name}”?`,
  deleteHint: 'Sends that name it are refused from now on. Queued notifications keep their version.',
  deleted: 'The template was deleted.',
  saved: 'The template was saved.',
  createdNote: 'The template was created.',
  discard: 'Discard changes',
  restored: 'Unsaved changes of an earlier visit were brought back.',
  preview: 'Preview',
  choices: {
    locale: 'Locale',
    localeOfReader: 'Of the reader',
    layout: 'Layout',
    layoutOf: (name: string | null) =>
      name === null ? 'From the template: none' : `From the template: ${name}`,
    noLayout: 'None',
    recipient: 'Reader',
    recipientHint: 'The application’s id of a person, whose locale and time zone are used.',
  },
  views: { html: 'HTML', text: 'Text', source: 'Source' },
  previewEmpty: 'Write a text to see it here.',
  previewBroken: 'The template cannot be rendered yet. The field that needs a change says why.',
  previewStale: 'This is the last text that could be rendered.',
  textIsMade: 'The text is made of the HTML when the message is sent.',
  segments: ({
    segments,
    characters,
    encoding,
  }: {
    segments: number
    characters: number
    encoding: string
  }) =>
    `${segments === 1 ? '1 segment' : `${segments} segments`}, ${characters} characters (${encoding.toUpperCase()})`,
  variables: 'Example values',
  variablesHint: 'For the preview and test messages alone. They are not stored.',
  section: (name: string) => `Section ${name} (JSON)`,
  sectionHint: 'true shows it once, a list such as [{"title": "A"}, {"title": "B"}] once for each item.',
  missing: (name: string, type: 'text' | 'number' | 'date' | 'section') =>
    `“${name}” needs ${{ text: 'a text', number: 'a number', date: 'a date, such as 2026-12-24T18:00Z', section: 'a value' }[type]}.`,
  notJson: (name: string) => `The value of “${name}” is no JSON. Write true, a list or an object.`,
  test: 'Send test',
  testTitle: (version: number) => `Send version ${version}`,
  testHint: 'The message is sent for real, with the example values of the preview.',
  testUnsaved: 'The stored version is sent for real, without your unsaved changes.',
  testSent: 'The message is on its way: see what becomes of it',
  to: 'Recipient',
  draft: {
    label: 'Draft',
    of: (version: number) => `There is a draft of version ${version} that is not published, last changed`,
    editing: (version: number) => `You are editing the draft of version ${version}, last changed`,
    hint: (version: number) => `Messages use version ${version} until you publish the draft.`,
    save: 'Save as draft',
    saveEdit: 'Save draft',
    saved: 'The draft was saved.',
    saveFirst: 'Save or discard your changes first.',
    saveMine: 'Save mine in the draft',
    back: (version: number) => `Show version ${version}`,
    behind: (version: number) => `Version ${version} was saved since then. Publishing the draft replaces it.`,
    show: 'Compare',
    differences: (version: number) =>
      `Lines with + come from the draft, lines with - from version ${version}.`,
    edit: 'Edit draft',
    publish: 'Publish draft',
    publishTitle: 'Publish this draft?',
    publishHint: 'It becomes the newest version, which messages use from now on.',
    published: 'The draft was published.',
    discard: 'Discard draft',
    discardTitle: 'Discard this draft?',
    discardHint: 'Its text is lost. The versions of the template stay.',
    discarded: 'The draft was discarded.',
  },
  versions: 'Versions',
  compare: 'Compare',
  compareTitle: 'Compare versions',
  from: 'From version',
  until: 'To version',
  noDifference: 'Both have the same text.',
  moreDifferences: 'There are more differences than can be shown here.',
  unchanged: (lines: number) => (lines === 1 ? '1 unchanged line' : `${lines} unchanged lines`),
  actions: 'Actions',
  restore: 'Restore',
  restoreTitle: (version: number) => `Restore version ${version}?`,
  restoreHint: 'Its text becomes a new version. No version is lost.',
  restoreLater: 'Save or discard your changes before you restore a version.',
  restoredNote: (version: number) => `Version ${version} was restored.`,
  newer: (theirs: Revised) => `${revision(theirs)} was saved while you were editing.`,
  conflictTitle: (theirs: Revised) => `${revision(theirs)} was saved while you were editing`,
  conflictHint: 'Lines with + come from your changes, lines with - from the stored version.',
  keepEditing: 'Keep editing',
  useTheirs: ({ version, draft }: Revised) =>
    draft === undefined ? `Use version ${version}, discard mine` : 'Use the saved draft, discard mine',
  fieldName: (field: string) => {
    const [, locale, side = ''] = /^locales\.(.+)\.(\w+)$/.exec(field) ?? []
    return locale === undefined ? (NAMES[field] ?? field) : `${NAMES[side] ?? side} (${locale})`
  },
  lint: {
    title: 'Checks',
    none: 'No problems found.',
    incomplete: 'No problems found in the part that was checked.',
    failed: (message: string) => `The text could not be checked: ${message}`,
    severities: { error: 'Error', warning: 'Warning' },
    sources: {
      layout: (name: string) => `layout ${name}`,
      partial: (name: string) => `partial ${name}`,
    },
    line: (line: number) => `line ${line}`,
  },
  saveMine: 'Save mine as a new version',
}
