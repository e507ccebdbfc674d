import type { RouteLimit } from './model.ts'

/** All routes without their own limit. */
export const REQUESTS: RouteLimit = { name: 'requests', perMinute: null }

/** Routes without a key: several load balancers may check the health each second. */
export const PUBLIC: RouteLimit = { name: 'public', perMinute: 600 }
