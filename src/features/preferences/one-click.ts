const NAMES = new Set(['name="list-unsubscribe"', 'name=list-unsubscribe'])

/**
 * RFC 8058 3.2: `multipart/form-data` or `application/x-www-form-urlencoded`. Some mail providers end the body with a
 * line break, which a form parser takes for a part of the value.
 */
export function isOneClick(bytes: Uint8Array): boolean {
  const text = Buffer.from(bytes).toString('latin1').trim()
  if (new URLSearchParams(text).get('List-Unsubscribe')?.trim() === 'One-Click') return true
  return partsOf(text.replaceAll('\r\n', '\n')).some(isClick)
}

/** Splits at the boundary, which is the first line: form encoders write no preamble. */
function partsOf(text: string): string[] {
  const end = text.indexOf('\n')
  const boundary = text.slice(0, Math.max(0, end)).trimEnd()
  return boundary.startsWith('--') && boundary.length > 2 ? `\n${text}`.split(`\n${boundary}`) : []
}

function isClick(part: string): boolean {
  const end = part.indexOf('\n\n')
  if (end === -1 || part.slice(end + 2).trim() !== 'One-Click') return false
  const parameters = part.slice(0, end).toLowerCase().split(/[\n;]/)
  return parameters.some((parameter) => NAMES.has(parameter.trim()))
}
