import { describe, expect, it } from 'vitest'
import { isOneClick } from '../../../src/features/preferences/one-click.ts'

const judge = (text: string): boolean => isOneClick(Buffer.from(text))

/** A form of RFC 7578 with the given head and content of its part. */
function multipart(head: string, content: string, newline = '\r\n'): string {
  return ['--x', ...head.split('\n'), '', content, '--x--', ''].join(newline)
}

const HEAD = 'Content-Disposition: form-data; name="List-Unsubscribe"'

describe('isOneClick', () => {
  it.each([
    ['a form', 'List-Unsubscribe=One-Click'],
    ['a form with a line after it', 'List-Unsubscribe=One-Click\r\n'],
    ['a form with a line after it, encoded by a parser', 'List-Unsubscribe=One-Click%0D%0A'],
    ['a form with a line after the field', 'List-Unsubscribe=One-Click\r\n&a=b'],
    ['parts with a line after the value', multipart(HEAD, 'One-Click\r\n')],
    ['parts after a line', `\r\n${multipart(HEAD, 'One-Click')}`],
    ['parts with lines after them', `${multipart(HEAD, 'One-Click')}\r\n\r\n`],
    ['a form with more fields', 'a=b&List-Unsubscribe=One-Click'],
    ['parts', multipart(HEAD, 'One-Click')],
    ['parts with bare newlines', multipart(HEAD, 'One-Click', '\n')],
    ['a name without quotes', multipart(HEAD.replaceAll('"', ''), 'One-Click')],
    ['more headers', multipart(`Content-Type: text/plain\n${HEAD}\nX-More: y`, 'One-Click')],
    [
      'a second part',
      `--x\r\nContent-Disposition: form-data; name="a"\r\n\r\nb\r\n${multipart(HEAD, 'One-Click')}`,
    ],
  ])('is %s', (_what, text) => {
    expect(judge(text)).toBe(true)
  })

  it.each([
    ['nothing', ''],
    ['two words', 'List-Unsubscribe=One-Click%0D%0AOne-Click'],
    ['another value', 'List-Unsubscribe=Yes'],
    ['a part of another name', multipart('Content-Disposition: form-data; name="List"', 'One-Click')],
    ['a part with another content', multipart(HEAD, 'Two-Clicks')],
    ['a part with more content', multipart(HEAD, 'One-Click\r\nmore')],
    [
      'a name in the content',
      multipart('Content-Disposition: form-data; name="a"', `${HEAD}\r\n\r\nOne-Click`),
    ],
    ['no boundary', `${HEAD}\r\n\r\nOne-Click\r\n`],
    ['an empty boundary', `--\r\n${HEAD}\r\n\r\nOne-Click\r\n--`],
  ])('is not %s', (_what, text) => {
    expect(judge(text)).toBe(false)
  })

  it.each([
    ['lines with the name', 'name=List-Unsubscribe\n'],
    ['boundaries', '--x\r\n'],
    ['parts', `--x\r\n${HEAD}\r\n\r\n`],
    ['semicolons', '; ;'],
    ['blank lines', '\r\n'],
  ])('is not as much of %s as the route reads', (_what, piece) => {
    expect(judge(`--x\r\n${piece.repeat(4_096 / piece.length)}`)).toBe(false)
  })
})
