import type { Connection } from './connection.ts'

/** The fencing tokens of claims, each greater than those before. */
export interface Tokens {
  last(): number
  /** Stores the token of a claim that found something. One that finds nothing writes nothing, and waits for no disk. */
  use(token: number): void
}

export function createTokens(connection: Connection): Tokens {
  const last = connection.statement<{ token: number }>('SELECT token FROM carillon_fencing WHERE only = 1')
  const use = connection.statement('UPDATE carillon_fencing SET token = ? WHERE only = 1')
  return {
    last: () => last().get()?.token ?? 0,
    use: (token) => use().run(token),
  }
}
