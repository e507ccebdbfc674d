import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import * as converter from '../../../../adapters/channels/kit/mail/html-to-text.ts'
import { finish } from '../../../../src/core/loop/steps.ts'

const htmlToText = (html: string): string => finish(converter.htmlToText(html))

describe('htmlToText', () => {
  it.each([
    ['plain text', 'plain text'],
    ['', ''],
    ['  a \n\t b  ', 'a b'],
    ['<p>One</p><p>Two</p>', 'One\n\nTwo'],
    ['<p>One<p>Two', 'One\n\nTwo'],
    ['One<br>Two<br/>Three', 'One\nTwo\nThree'],
    ['One<br><br><br><br>Two', 'One\n\nTwo'],
    ['<div>One</div><div><div>Two</div></div>Three', 'One\nTwo\nThree'],
    ['<b>bo</b>ld <i>it</i>', 'bold it'],
    ['<h1>Title</h1>Text', 'Title\n\nText'],
    ['a<hr>b', 'a\n\n---\n\nb'],
    ['<ul><li>One</li><li>Two</li></ul>', '- One\n- Two'],
    ['<ul><li><p>One</p></li><li>\n<div><p>Two</p><p>Three</p></div></li></ul>', '- One\n\n- Two\n\nThree'],
    ['<ol><li><p></p><h2>One</h2><li></li><li><ul><li>Two</ul></ol>', '1. One\n\n2.\n3.\n\n- Two'],
    ['a<li></li><p>b</p>', 'a\n-\n\nb'],
    ['<ul><li><br>One<li><pre> a\n b</pre></ul>', '-\nOne\n-  a\n b'],
    ['<ol><li>One<li>Two<ul><li>In</ul><li>Three</ol>After', '1. One\n2. Two\n\n- In\n\n3. Three\n\nAfter'],
    ['<table><tr><th>A</th><td>B</td></tr><tr><td>C<td>D</table>', 'A B\nC D'],
    ['<pre>  a\n    b </pre>c', '  a\n    b\n\nc'.trim()],
    ['<img src="x.png" alt="Logo">', 'Logo'],
    ['<img src="x.png">', ''],
    ['<a href="https://x.example/?a=1&amp;b=2">here</a>.', 'here (https://x.example/?a=1&b=2).'],
    ["<a class=big href='https://x.example'>here</a>", 'here (https://x.example)'],
    ['<a href=https://x.example>here</a>', 'here (https://x.example)'],
    ['<a href="https://x.example">https://x.example</a>', 'https://x.example'],
    ['<a href="https://x.example"><img src="x"></a>', 'https://x.example'],
    [
      '<a href="https://x.example">one<a href="https://y.example">two</a>',
      'one (https://x.example)two (https://y.example)',
    ],
    ['<a href="https://x.example">open', 'open (https://x.example)'],
    ['<a href="mailto:ada@example.com">ada@example.com</a>', 'ada@example.com'],
    ['<a href="tel:+41441234567">call</a>', 'call (+41441234567)'],
    ['<a href="javascript:alert(1)">bad</a>', 'bad'],
    ['<a href="#top">top</a><a name="x"></a>', 'top'],
    [
      '&lt;b&gt; &amp;amp; &quot;x&quot; &#39;y&#39; &#x1F389; &euro; &nbsp;&nbsp;z',
      '<b> &amp; "x" \'y\' 🎉 € z',
    ],
    ['<a href="https://x.example/?a=1&copy=2&amp;reg=3">x</a>', 'x (https://x.example/?a=1&copy=2&reg=3)'],
    ['<a href="https://x.example/?a=1&copy2=3&copy">x</a>', 'x (https://x.example/?a=1&copy2=3©)'],
    ['<img alt="a&lt=b &copy;=&#61;&#61=">&copy=2', 'a&lt=b ©====©=2'],
    [
      '&unknown; &constructor; AT&T &; &#0; &#xD800; &#99999999;',
      '&unknown; &constructor; AT&T &; \ufffd \ufffd \ufffd',
    ],
    ['&Zcaron;&Rarr;&nvlt;&NotEqualTilde;&ap;&frac34;&spades;', 'Ž↠<⃒≂̸≈¾♠'],
    ['AT&ampT &ltb&gt &notit; &notin;', 'AT&T <b> ¬it; ∉'],
    ['a&#1;b&#10;c&Tab;d&NewLine;e', 'a b c d e'],
    ['auto&shy;mobile', 'automobile'],
    ['it&#146;s &#x93;x&#148; &#150; &#128;5&#133;', 'it’s “x” – €5…'],
    ['<style>p { a: "</p>" }</style><script>if (a < b) "</style>"</script>Text', 'Text'],
    ['<STYLE>x</STYLE >Text<Script>y</SCRIPT>', 'Text'],
    ['<script>"</scripts>"</script>a<style></styles></style\n>b<style></style/>c', 'abc'],
    ['a<script>no</script', 'a'],
    ['<title>T</title><svg><text>no</text></svg>Text', 'Text'],
    ['a<svg viewBox="0 0 1 1"/>b<svg />c<script/>no</script>d', 'abcd'],
    ['a<!-- <p>no</p> -->b<!doctype html><?xml?>c', 'abc'],
    ['a<!-- no --!>b<!-->c<!--->d<!--!> -->e', 'abcde'],
    ['<!--[if mso]><p>Outlook</p><![endif]-->Text', 'Text'],
    ['<p title="a > b">Text</p>', 'Text'],
    ['<p title= "a > b">Text</p>', 'Text'],
    ["<p title =\n\t'a > b' >Text</p>", 'Text'],
    ['<p title= a">Text</p>', 'Text'],
    ['1 < 2 and 3 > 2 <', '1 < 2 and 3 > 2 <'],
    ['<p', ''],
    ['Text<!-- open', 'Text'],
    ['İ<style>x</style>Text', 'İText'],
    ['👨‍👩‍👧 family', '👨‍👩‍👧 family'],
    ['Hi<div style="display:none">&#847;&zwnj;&nbsp;&#8203;\u200b</div>Ada', 'Hi\nAda'],
  ])('turns %j into %j', (html, text) => {
    expect(htmlToText(html)).toBe(text)
  })

  const PADDING = '&#847;&zwnj;&nbsp;&#8199;&shy;&#65279; &zwj;&lrm;&rlm; \u200c\u00a0'.repeat(40)

  it.each([
    [`<div>Your order${PADDING}</div><p>Hello</p>`, 'Your order\n\nHello'],
    [`<div>Your order ${PADDING}</div>Hello`, 'Your order\nHello'],
    [`Your order&zwnj;&nbsp;<b>${PADDING}</b> ${PADDING} Hello${PADDING}`, 'Your order Hello'],
    [PADDING, ''],
    [`<p>One</p>${PADDING}<p>Two</p>`, 'One\n\nTwo'],
    [`<table><tr><td>a&zwnj;</td><td>&zwnj;b</td></tr></table>`, 'a \u200cb'],
    // In words they mean something.
    ['می&zwnj;خواهم', 'می\u200cخواهم'],
    ['می<b>&zwnj;</b>خواهم', 'می\u200cخواهم'],
    ['می&zwnj;<b>خواهم</b>', 'می\u200cخواهم'],
    ['क्&zwj;ष', 'क्\u200dष'],
    ['👩&zwj;💻 &#x1F469;&#x200D;&#x1F680;', '👩\u200d💻 👩\u200d🚀'],
    ['גרסה C++&rlm; חדשה', 'גרסה C++\u200f חדשה'],
    ['&rlm;(א)&rlm;', '\u200f(א)\u200f'],
    ['ภาษา&#8203;ไทย', 'ภาษา\u200bไทย'],
    ['<pre>a&zwnj; b</pre>', 'a\u200c b'],
  ])('drops invisible padding and keeps invisible characters of words: %j', (html, text) => {
    expect(htmlToText(html)).toBe(text)
  })

  it.each([
    'style="display:none"',
    "style='DISPLAY : None ;'",
    'style=display:none',
    'style="color:red;display:none!important;display:block"',
    'style="display:block;display:none"',
    'style="/* x */display/**/:none"',
    'style="display&#58;none"',
    'style="visibility:hidden"',
    'style="visibility: collapse"',
    'hidden',
    'HIDDEN=""',
    'class=x hidden=until-found',
  ])('leaves out what is hidden: %s', (attribute) => {
    expect(htmlToText(`a<div ${attribute}>no</div>b`)).toBe('a\nb')
    expect(htmlToText(`a<span ${attribute}>no</span>b`)).toBe('ab')
    expect(htmlToText(`a<img ${attribute} alt="no">b`)).toBe('ab')
    expect(htmlToText(`<a href="https://x.example" ${attribute}>no</a>b`)).toBe('b')
    const nested = `<div ${attribute}><p>no<div><br><a href="https://x.example">no</a></div></b>no<img alt="no"></div>b`
    expect(htmlToText(nested)).toBe('b')
  })

  it.each([
    'style="display:block"',
    'style="display:none;display:block"',
    'style="display:block!important;display:none"',
    'style="/* display:none */"',
    'style="mso-hide:all"',
    'style="overflow:hidden;max-height:0"',
    'style="background:url(none);list-style:none"',
    'data-style="display:none"',
    'aria-hidden="true"',
    'class="hidden"',
    'type="hidden"',
  ])('keeps what is not hidden: %s', (attribute) => {
    expect(htmlToText(`<div ${attribute}>yes</div>`)).toBe('yes')
  })

  it.each([
    ['<p hidden>no<p>yes', 'yes'],
    ['<p hidden>no<div>yes</div>', 'yes'],
    ['<ul><li hidden>no<ul><li>no</ul><li>yes</ul>', '- yes'],
    ['<table><tr><td hidden>no<table><tr><td>no</table><td>yes</table>', 'yes'],
    ['<table><tr hidden><td>no<tr><td>yes</table>', 'yes'],
    ['<table><tr><td><div hidden>no</td><td>yes</td></tr></table>', 'yes'],
    ['<div><span hidden>no</div>yes', 'yes'],
    ['<b><span hidden>no</b>no</span>yes', 'yes'],
    ['<div hidden>no<div hidden>no</div>no</div>yes<div hidden>no', 'yes'],
    ['<div hidden>no<!-- </div> --></div>yes', 'yes'],
    ['<br hidden>yes', 'yes'],
    ['<svg style="display:none"><text>no</text></svg>yes', 'yes'],
    ['<style hidden>no</style>yes<div hidden><svg/>no</div>', 'yes'],
  ])('ends where browsers end it: %j', (html, text) => {
    expect(htmlToText(html)).toBe(text)
  })

  it('takes any text and never leaves a tag of the source behind', () => {
    const piece = fc.constantFrom(
      ...[
        '<p>',
        '</p>',
        '<a href="https://x.example">',
        '</a>',
        '<li>',
        '<ol>',
        '</ol>',
        '<pre>',
        '<!--',
        '-->',
      ],
      ...['<style>', '</style>', '"', "'", '=', '&amp;', '&', ' ', '\n', 'text', '<', '>', '/', 'ü'],
    )
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        expect(htmlToText(pieces.join(''))).not.toMatch(/<(?:p|a|li|ol|pre|style)\b[^>]*>/)
      }),
    )
  })

  // Not timed: work that grew with the square of the length would exceed the time of any test.
  it.each([
    '<',
    '<a ',
    '<a href="',
    '<a href=x>',
    '<!--',
    '<style>',
    '<p ="',
    '&#',
    '&',
    ' ',
    '\t',
    'a ',
    '<pre>\t',
    '<ol><li>',
    '</style',
    '<b hidden>',
    '<p hidden><i>',
    '<p hidden></p>',
    '</b><b>',
    '&zwnj;',
    'a&zwnj;',
    '&zwnj; ',
  ])('reads a million characters of %j in one pass', (piece) => {
    const half = piece.repeat(500_000 / piece.length)
    expect(typeof htmlToText(`${half}<img ${half}>${half}`)).toBe('string')
  })
})
