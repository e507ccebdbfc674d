import type { LintFault } from '../../core/channels/lint.ts'

const PLAIN_HTTP = /\bhttp:\/\/[^\s<>"']{1,200}/gi

/** Finds faults in plain text. */
export function* textFaults(text: string, field: string): Generator<LintFault> {
  for (const [excerpt] of text.matchAll(PLAIN_HTTP))
    yield {
      rule: 'plain_http_link',
      field,
      excerpt,
      message:
        'A link begins with "http:", so that others can read and change what it leads to. Write https.',
    }
}
