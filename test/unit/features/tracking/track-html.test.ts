import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { finish } from '../../../../src/core/loop/steps.ts'
import { type TrackedLinks, trackHtml } from '../../../../src/features/tracking/track-html.ts'

const MOST = 500
const tracked = (html: string, links: TrackedLinks): string => finish(trackHtml(html, links, MOST)).html

const click = (href: string) => `https://c.example/?t=${encodeURIComponent(href)}`
const clicks = (html: string) => tracked(html, { pixel: null, click })
const seen = (html: string): string[] => {
  const targets: string[] = []
  const collect = (href: string): null => {
    targets.push(href)
    return null
  }
  tracked(html, { pixel: null, click: collect })
  return targets
}

describe('HTML whose links are counted', () => {
  it.each<[string, string]>([
    ['<a href="https://example.com/a">x</a>', 'https://example.com/a'],
    ["<A class=b HREF='http://example.com/a?x=1&amp;y=2'>x</A>", 'http://example.com/a?x=1&y=2'],
    ['<a href=https://example.com/?a=1&copy=2>x</a>', 'https://example.com/?a=1&copy=2'],
    ['<a href=https://example.com/?q="a"&b=1 class=b>x</a>', 'https://example.com/?q=%22a%22&b=1'],
    ['<a\nhref = " https://example.com/a ">x</a>', 'https://example.com/a'],
    ['<area href="https://example.com/&#x61;">', 'https://example.com/a'],
    ['<a title="1 > 0" href="https://example.com/a">x</a>', 'https://example.com/a'],
    ['<a title= "1 > 0" href="https://example.com/a">x</a>', 'https://example.com/a'],
    ['<svg/><a href="https://example.com/a">x</a>', 'https://example.com/a'],
    ['<a data-carillon-track="true" href="https://example.com/a">x</a>', 'https://example.com/a'],
    ['<a href="https://bücher.example/ü">x</a>', 'https://xn--bcher-kva.example/%C3%BC'],
  ])('counts %s', (html, target) => {
    expect(seen(html)).toEqual([target])
    expect(clicks(html)).toContain(`href="${click(target)}"`)
  })

  it.each([
    '<a href="mailto:ada@example.com">x</a>',
    '<a href="tel:+49301234">x</a>',
    '<a href="#top">x</a>',
    '<a href="/relative">x</a>',
    '<a href="//example.com">x</a>',
    '<a href="javascript:alert(1)">x</a>',
    '<a href="data:text/html,x">x</a>',
    '<a href="">x</a>',
    '<a name="https://example.com">x</a>',
    '<a data-href="https://example.com">x</a>',
    '<a href="https://">x</a>',
    '<a href="https://example.com/&unknown;">x</a>',
    '<a data-carillon-track="false" href="https://example.com">x</a>',
    '<link href="https://example.com/a.css"><img src="https://example.com/a.png">',
    '<!-- <a href="https://example.com">x</a> -->',
    '<!--[if mso]><a href="https://example.com">x</a><![endif]-->',
    '<style>a[href="https://example.com"] { color: red }</style>',
    `<a href="https://example.com/${'x'.repeat(2_000)}">x</a>`,
    'https://example.com',
  ])('leaves %s', (html) => {
    expect(clicks(html)).toBe(html)
  })

  it('changes nothing else, whatever the source is', () => {
    const piece = fc.oneof(
      fc.string(),
      fc.constantFrom(
        '<a href="https://e.example/a">',
        '<a ',
        'href=',
        '"',
        "'",
        '>',
        '<!--',
        '-->',
        '</a>',
        '<p>',
      ),
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 20 }), (pieces) => {
        const html = pieces.join('')
        expect(tracked(html, { pixel: null, click: () => null })).toBe(html)
        const result = tracked(html, { pixel: null, click: () => 'https://c.example/x' })
        expect(tracked(html, { pixel: null, click: () => 'https://c.example/x' })).toBe(result)
        expect(result.split('https://c.example/x')).toHaveLength(seen(html).length + 1)
      }),
    )
  })

  it.each([
    ['<html><body>Hi</body></html>', '<html><body>HiIMG</body></html>'],
    ['Hi', 'HiIMG'],
    ['<BODY>Hi</BODY >', '<BODY>HiIMG</BODY >'],
    ['<!-- </body> -->Hi', '<!-- </body> -->HiIMG'],
  ])('shows a picture at the end of %s', (html, expected) => {
    const image = '<img src="https://c.example/?a=1&amp;b" width="1" height="1" alt="" style="border:0">'
    const result = tracked(html, { pixel: 'https://c.example/?a=1&b', click: () => null })
    expect(result).toBe(expected.replace('IMG', image))
  })

  it('counts links up to a bound, and says that there are more', () => {
    const links = (count: number) => '<a href="https://e.example/">x</a>'.repeat(count)
    const pixel = 'https://c.example/p'
    const all = finish(trackHtml(links(MOST), { pixel: null, click }, MOST))
    expect(all.complete).toBe(true)
    const some = finish(trackHtml(`${links(MOST + 5)}</body>`, { pixel, click }, MOST))
    expect(some.complete).toBe(false)
    expect(some.html.split('href="https://c.example')).toHaveLength(MOST + 1)
    expect(some.html.split('href="https://e.example/"')).toHaveLength(5 + 1)
    expect(some.html).toMatch(/<img [^>]*><\/body>$/)
  })

  it('makes one address for all links that lead to one page', () => {
    const asked: string[] = []
    const html = '<a href="https://e.example/a">x</a><a href="https://e.example/b">y</a>'.repeat(50)
    tracked(html, { pixel: null, click: (href) => `https://c.example/${asked.push(href)}` })
    expect(asked).toEqual(['https://e.example/a', 'https://e.example/b'])
  })
})
