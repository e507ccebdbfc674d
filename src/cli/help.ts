import type { Writable } from 'node:stream'
import type { Argument, Flags } from './flags.ts'
import { styled } from './terminal.ts'

/** What the help of a command shows. */
export interface Help {
  readonly name: string
  readonly about: string
  readonly arguments?: readonly Argument[]
  readonly examples: readonly string[]
  readonly groups: readonly (readonly [title: string, flags: Flags])[]
  /** More paragraphs. */
  readonly more?: readonly string[]
}

const WIDTH = 28

export function rows(entries: readonly (readonly [name: string, about: string])[]): string[] {
  const width = Math.min(WIDTH, Math.max(...entries.map(([name]) => name.length)))
  return entries.flatMap(([name, about]) =>
    name.length > width
      ? [`  ${name}`, `  ${' '.repeat(width)}  ${about}`]
      : [`  ${name.padEnd(width)}  ${about}`.trimEnd()],
  )
}

export function helpOf(
  { name, about, arguments: takes = [], examples, groups, more = [] }: Help,
  out: Writable,
): string {
  const words = takes.map(argumentWord)
  const title = (text: string): string => styled('bold', text, out)
  return [
    about,
    '',
    `${title('Usage:')} carillon ${[name, ...words, '[flags]'].join(' ')}`,
    ...(takes.length === 0
      ? []
      : ['', title('Arguments:'), ...rows(takes.map((each) => [each.name, each.about]))]),
    ...groups
      .filter(([, flags]) => Object.keys(flags).length > 0)
      .flatMap(([heading, flags]) => ['', title(`${heading}:`), ...rows(flagRows(flags))]),
    ...more.flatMap((paragraph) => ['', paragraph]),
    ...(examples.length === 0 ? [] : ['', title('Examples:'), ...examples.map((each) => `  ${each}`)]),
  ].join('\n')
}

function flagRows(flags: Flags): (readonly [string, string])[] {
  return Object.entries(flags).map(([name, { about, value, many, required }]) => [
    `--${name}${value === undefined ? '' : ` <${value}>`}`,
    `${about}${required === true ? ' Required.' : ''}${many === true ? ' Repeatable.' : ''}`.trim(),
  ])
}

function argumentWord({ name, required, many }: Argument): string {
  const word = `<${name}>${many === true ? '…' : ''}`
  return required === false ? `[${word}]` : word
}
