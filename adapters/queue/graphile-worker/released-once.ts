import type { GraphileConnected, GraphilePool } from './peer.ts'

/**
 * A pool that tolerates a second release. graphile-worker releases its listening connection twice if the connection is
 * lost during a stop. The second time `pg` throws inside an unhandled promise, which would end the process.
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
