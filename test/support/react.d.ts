/** The part of React that tests use: its own types declare names of the DOM for all files. */
declare module 'react' {
  export function createElement(
    type: string | ((props: never) => unknown),
    props?: Readonly<Record<string, unknown>> | null,
    ...children: readonly unknown[]
  ): { readonly type: unknown; readonly props: unknown; readonly key: string | null }
}
