/** Elements with a blank line before and after. */
export const PARAGRAPHS: ReadonlySet<string> = new Set(
  'p h1 h2 h3 h4 h5 h6 ul ol dl table blockquote pre hr figure'.split(' '),
)
/** Elements on their own line. */
export const LINES: ReadonlySet<string> = new Set(
  'div tr li dt dd section article header footer main nav aside address form fieldset caption center body'.split(
    ' ',
  ),
)

/** Whether an element begins on a new line. */
export function isBlock(name: string): boolean {
  return PARAGRAPHS.has(name) || LINES.has(name)
}
