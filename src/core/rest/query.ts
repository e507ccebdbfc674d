/** Decoded query parameters. */
export type Query = Readonly<Record<string, string>>

/** Parameters with those of an object (`metadata[order]=4711`) under its name. */
export type ParsedQuery = Readonly<Record<string, string | Query>>
