import type { GraphileConnected, GraphilePool } from './peer.ts'

/**
 * The pool, as graphile-worker sees it. Where the connection on which it begins to listen is lost while it stops, it gives that
 * back twice, at the end of a promise that nobody handles: `pg` throws the second time, which would end the process.
 */
export function releasedOnce(pool: GraphilePool): GraphilePool {
  function connect(connected?: GraphileConnected): unknown {
    if (connected === undefined) return pool.connect()
    return pool.connect((error, client, release) => {
      let released = false
      connected(error, client, (destroy) => {
        if (released) return
        released = true
        release?.(destroy)
      })
    })
  }

  return new Proxy(pool, {
    get(target, name) {
      if (name === 'connect') return connect
      const value: unknown = Reflect.get(target, name)
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
