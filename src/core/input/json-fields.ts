/**
 * Values by name. Interfaces and classes have no index signature, so `Record<string, unknown>` alone would refuse them;
 * `object` alone would accept a list, a Map or a pending Promise.
 */
export type JsonFields =
  | Readonly<Record<string, unknown>>
  | (object & { readonly [Symbol.iterator]?: never; readonly [Symbol.toStringTag]?: never })
