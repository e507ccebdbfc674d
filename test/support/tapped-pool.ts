import type pg from 'pg'

/** A pool of `real`'s connections whose every query goes through `ask`: to be looked at, held back, or robbed of its answer. */
export function tappedPool(
  real: pg.Pool,
  ask: (client: pg.PoolClient, query: pg.QueryConfig) => Promise<unknown>,
): { connect(): Promise<unknown> } {
  return {
    async connect() {
      const client = await real.connect()
      return {
        on: client.on.bind(client),
        removeListener: client.removeListener.bind(client),
        release: client.release.bind(client),
        query: (query: pg.QueryConfig) => ask(client, query),
      }
    },
  }
}

/** Whether a statement holds this text. The isolation that a transaction begins with is no COMMIT. */
export function holdsText({ text }: pg.QueryConfig, part: string): boolean {
  return text.replace('READ COMMITTED', '').includes(part)
}
