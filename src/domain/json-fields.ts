/**
 * Values by name. What an interface or a class types has no index signature, so that `Record<string, unknown>` alone refuses
 * it; `object` alone would take a list, a Map, or a Promise that nobody has waited for.
 */
export type JsonFields =
  | Readonly<Record<string, unknown>>
  | (object & { readonly [Symbol.iterator]?: never; readonly [Symbol.toStringTag]?: never })
