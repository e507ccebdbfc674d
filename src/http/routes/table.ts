import { accountRoutes } from './account.ts'
import { logRoutes } from './logs.ts'
import { notificationRoutes } from './notifications.ts'
import type { Route } from './route.ts'
import { templateRoutes } from './templates.ts'

/** Every operation of the REST API. */
export const ROUTES: readonly Route[] = [
  ...notificationRoutes,
  ...templateRoutes,
  ...logRoutes,
  ...accountRoutes,
]
