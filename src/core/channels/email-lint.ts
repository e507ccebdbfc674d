import type { ChannelLint, LintedText } from './channel-kind.ts'
import type { EmailContent } from './email-content.ts'
import type { LintFault } from './lint.ts'

/** Gmail shows the first 102 KB of a message, and a link to the rest. */
const MAX_HTML_BYTES = 102 * 1024
/** Common mail clients show this many characters on a wide screen; telephones show about half. */
const MAX_SUBJECT = 70

/** Rules for mails. */
export const emailLint: ChannelLint<EmailContent> = {
  rules: {
    missing_subject: { severity: 'warning', finds: 'a mail without a subject' },
    subject_too_long: {
      severity: 'warning',
      finds: `a subject of more than ${MAX_SUBJECT} characters, of which most mail clients show only the beginning`,
    },
    missing_text: {
      severity: 'warning',
      finds: 'HTML without a `text` of its own, which is then made from the HTML',
    },
    html_too_large: { severity: 'warning', finds: 'HTML of more than 102 KB, of which Gmail hides the rest' },
  },
  *find(text) {
    const { subject, format, text: alternative } = text
    if (subject === null || subject.trim() === '')
      yield {
        rule: 'missing_subject',
        field: 'subject',
        message: 'The mail has no subject. Write one, unless every send brings its own.',
      }
    if (format === 'html' && alternative === undefined)
      yield {
        rule: 'missing_text',
        field: 'text',
        message:
          'The HTML has no text alternative, so one is made from it. Write "text" to decide what people without HTML read.',
      }
    if (text.isMeasured) yield* lengths(text)
  },
}

function* lengths({ subject, body, format }: LintedText<EmailContent>): Generator<LintFault> {
  const length = [...(subject ?? '')].length
  if (length > MAX_SUBJECT)
    yield {
      rule: 'subject_too_long',
      field: 'subject',
      message: `The subject has ${length} characters; most mail clients show at most ${MAX_SUBJECT}. Shorten it, or begin with what matters.`,
    }
  const bytes = Buffer.byteLength(body)
  if (format === 'html' && bytes > MAX_HTML_BYTES)
    yield {
      rule: 'html_too_large',
      field: 'body',
      message: `The HTML has ${Math.ceil(bytes / 1024)} KB; Gmail hides what follows after 102 KB, with any link to unsubscribe. Shorten it.`,
    }
}
