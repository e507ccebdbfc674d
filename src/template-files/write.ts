import { writeMatter } from './front-matter.ts'
import { type FileShared, type FileTemplate, type FileText, present, type TemplateFiles } from './texts.ts'

const ENDS = { body: 'mustache', html: 'html', text: 'txt' } as const

/** The files of texts by path: reading them gives the same texts. */
export function filesOf({ templates, layouts, partials, messages }: TemplateFiles): Map<string, string> {
  return new Map([
    ...Object.entries(partials).flatMap(([name, text]) => sharedFiles(`partials/${name}`, text)),
    ...Object.entries(layouts).flatMap(([name, text]) => sharedFiles(`layouts/${name}`, text)),
    ...Object.entries(messages).map(([locale, catalogue]): [string, string] => [
      `messages/${locale}.json`,
      `${JSON.stringify(catalogue, null, 2)}\n`,
    ]),
    ...Object.entries(templates).flatMap(([name, template]) => templateFiles(name, template)),
  ])
}

function templateFiles(name: string, template: FileTemplate): [string, string][] {
  const { channel, subject, layout, locale, description, category, metadata, locales = {} } = template
  const fields = present({ subject, layout, locale, description, category, metadata })
  const path = `${name}.${channel}`
  return [
    ...textFiles(path, fields, template),
    ...Object.entries(locales).flatMap(([each, variant]) =>
      textFiles(`${path}.${each}`, present({ subject: variant.subject }), variant),
    ),
  ]
}

function sharedFiles(path: string, text: FileShared): [string, string][] {
  return textFiles(path, present({ description: text.description }), text)
}

function textFiles(path: string, fields: object, text: FileText): [string, string][] {
  const order = (['body', 'html', 'text'] as const).filter((field) => text[field] !== undefined)
  return order.map((field, index) => {
    const source = text[field] ?? ''
    return [`${path}.${ENDS[field]}`, index === 0 ? writeMatter({ ...fields }, source) : source]
  })
}
