import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import {
  bracketMatching,
  bracketMatchingHandle,
  HighlightStyle,
  LRLanguage,
  syntaxHighlighting,
} from '@codemirror/language'
import { search, searchKeymap } from '@codemirror/search'
import { Compartment, EditorState, type Extension } from '@codemirror/state'
import {
  Decoration,
  type DecorationSet,
  EditorView,
  highlightSpecialChars,
  keymap,
  lineNumbers,
  MatchDecorator,
  ViewPlugin,
  type ViewUpdate,
} from '@codemirror/view'
import { parser as css } from '@lezer/css'
import { tags } from '@lezer/highlight'
import { configureNesting, parser as html } from '@lezer/html'

// This module is the editor's own chunk: only `code-field.tsx` imports it, and lazily.

export interface CodeEditorOptions {
  readonly value: string
  readonly language: 'html' | 'text'
  readonly attributes: Readonly<Record<string, string>>
  readonly readOnly: boolean
  readonly onValue: (value: string) => void
}

export interface CodeEditor {
  /** Takes over a value that was not typed here. */
  set(value: string): void
  describe(attributes: Readonly<Record<string, string>>, readOnly: boolean): void
  /** Takes the focus, at a place in the text. */
  focus(at: number): void
  close(): void
}

/** Opens an editor in an element. Tab is not bound, so that it leads on to the next field. */
export function openCodeEditor(
  parent: HTMLElement,
  { value, language, attributes, readOnly, onValue }: CodeEditorOptions,
): CodeEditor {
  const described = new Compartment()
  let known = value
  const view = new EditorView({
    parent,
    state: EditorState.create({
      doc: value,
      extensions: [
        EditorView.cspNonce.of(document.querySelector<HTMLScriptElement>('script[nonce]')?.nonce ?? ''),
        history(),
        highlightSpecialChars(),
        search({ top: true }),
        keymap.of([...defaultKeymap, ...historyKeymap, ...searchKeymap]),
        EditorView.lineWrapping,
        language === 'html' ? SOURCE : PROSE,
        PLACEHOLDERS,
        REPLACING,
        LOOKS,
        described.of(descriptionOf(attributes, readOnly)),
        EditorView.updateListener.of(({ docChanged, state }) => {
          if (!docChanged) return
          const now = state.doc.toString()
          if (now === known) return
          known = now
          onValue(now)
        }),
      ],
    }),
  })
  return {
    set(next) {
      if (next === known) return
      known = next
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } })
    },
    describe(next, only) {
      view.dispatch({ effects: described.reconfigure(descriptionOf(next, only)) })
    },
    focus(at) {
      view.focus()
      view.dispatch({ selection: { anchor: Math.min(at, view.state.doc.length) } })
    },
    close: () => view.destroy(),
  }
}

function descriptionOf(attributes: Readonly<Record<string, string>>, readOnly: boolean): Extension {
  return [EditorView.contentAttributes.of({ ...attributes }), EditorState.readOnly.of(readOnly)]
}

/**
 * Where typing replaces a selection, Chromium would keep its colours by an inline style, which the policy of the page forbids.
 */
const REPLACING = EditorView.domEventHandlers({
  beforeinput(event, view) {
    const selection = document.getSelection()
    if (event.inputType !== 'insertText' || event.data === null || selection?.type !== 'Range') return false
    const range = selection.getRangeAt(0)
    const from = view.posAtDOM(range.startContainer, range.startOffset)
    const to = view.posAtDOM(range.endContainer, range.endOffset)
    view.dispatch({
      changes: { from, to, insert: event.data },
      selection: { anchor: from + event.data.length },
      scrollIntoView: true,
      userEvent: 'input.type',
    })
    event.preventDefault()
    return true
  },
})

const placeholder = Decoration.mark({ class: 'cm-placeholder-tag' })
const matcher = new MatchDecorator({ regexp: /\{\{\{[^{}]*\}\}\}|\{\{[^{}]*\}\}/g, decoration: placeholder })

const PLACEHOLDERS = ViewPlugin.fromClass(
  class {
    tags: DecorationSet
    constructor(view: EditorView) {
      this.tags = matcher.createDeco(view)
    }
    update(update: ViewUpdate): void {
      this.tags = matcher.updateDeco(update, this.tags)
    }
  },
  { decorations: (plugin) => plugin.tags },
)

const COLOURS = HighlightStyle.define([
  { tag: [tags.tagName, tags.keyword, tags.angleBracket], color: 'var(--accent)' },
  { tag: [tags.attributeName, tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--info)' },
  { tag: [tags.string, tags.attributeValue, tags.number, tags.color, tags.unit], color: 'var(--good)' },
  { tag: [tags.comment, tags.documentMeta, tags.processingInstruction], color: 'var(--muted)' },
  { tag: [tags.character, tags.invalid], color: 'var(--bad)' },
])

/** HTML of messages, which run no scripts: the parser of JavaScript would be a fifth of this chunk. */
const HTML = LRLanguage.define({
  parser: html.configure({
    props: [bracketMatchingHandle.add({ 'OpenTag CloseTag': (node) => node.getChild('TagName') })],
    wrap: configureNesting(
      [{ tag: 'style', parser: css }],
      [{ name: 'style', parser: css.configure({ top: 'Styles' }) }],
    ),
  }),
})

const SOURCE: Extension = [lineNumbers(), bracketMatching(), HTML, syntaxHighlighting(COLOURS)]

/** A text for people, which has words and no tags. */
const PROSE: Extension = [
  EditorView.contentAttributes.of({ spellcheck: 'true' }),
  EditorView.theme({ '.cm-scroller': { fontFamily: 'inherit', fontSize: 'inherit' } }),
]

const LOOKS = EditorView.theme({
  '&': { maxHeight: '32rem', minHeight: 'inherit', backgroundColor: 'var(--surface)', color: 'var(--text)' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--mono)', fontSize: '0.8125rem', lineHeight: '1.5' },
  '.cm-content': { caretColor: 'var(--text)' },
  '.cm-gutters': {
    backgroundColor: 'var(--sunken)',
    color: 'var(--muted)',
    borderRight: '1px solid var(--line)',
  },
  '.cm-placeholder-tag, .cm-placeholder-tag *': { color: 'var(--warn)' },
  '.cm-placeholder-tag': { backgroundColor: 'var(--warn-soft)', borderRadius: '3px' },
  '&.cm-focused .cm-matchingBracket': { backgroundColor: 'var(--accent-soft)' },
  '.cm-panels': { backgroundColor: 'var(--sunken)', color: 'var(--text)' },
  '.cm-textfield, .cm-button': {
    backgroundColor: 'var(--surface)',
    backgroundImage: 'none',
    border: '1px solid var(--line-strong)',
    color: 'var(--text)',
  },
})
