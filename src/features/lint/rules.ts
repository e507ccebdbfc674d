import type { LintRule } from '../../core/channels/lint.ts'

/** A rule for every channel. */
export type TemplateRule =
  | 'invalid_syntax'
  | 'invalid_template'
  | 'missing_message'
  | 'untranslated_message'
  | 'missing_variant'
  | 'missing_variable'
  | 'undeclared_variable'
  | 'unused_variable'
  | 'blank_message'
  | 'message_too_large'
  | 'unsafe_link'
  | 'plain_http_link'
  | 'image_without_alt'

/** The rules for every channel, by name. Channels bring others. */
export const TEMPLATE_RULES: Readonly<Record<TemplateRule, LintRule>> = {
  invalid_syntax: {
    severity: 'error',
    finds: 'a tag or section that is not closed, or a tag of another template language',
  },
  invalid_template: {
    severity: 'error',
    finds: 'a layout or partial that does not exist or does not fit, or a partial that contains itself',
  },
  missing_message: { severity: 'error', finds: 'a message `{{@key}}` that no locale has' },
  untranslated_message: { severity: 'warning', finds: 'a message that a locale takes from another language' },
  missing_variant: {
    severity: 'warning',
    finds: 'a locale with messages, but without a variant of the text',
  },
  missing_variable: {
    severity: 'error',
    finds: 'a required value that the example values do not have, or that is no text, number or boolean',
  },
  undeclared_variable: {
    severity: 'warning',
    finds: 'a section, or a value in a section, that the example values do not have',
  },
  unused_variable: { severity: 'warning', finds: 'an example value that no text uses' },
  blank_message: { severity: 'error', finds: 'example values that leave the message blank' },
  message_too_large: { severity: 'error', finds: 'a text that is larger than sends allow' },
  unsafe_link: {
    severity: 'error',
    finds: 'an address that runs code or reads files, such as `javascript:…`, in an attribute of HTML',
  },
  plain_http_link: { severity: 'warning', finds: 'a link or image with `http:` in place of `https:`' },
  image_without_alt: { severity: 'warning', finds: 'an `<img>` without `alt`' },
}
