import { explainRoutes } from './core/explain/routes.ts'
import { accountRoutes } from './core/limits/routes.ts'
import { logRoutes } from './core/notification/log-routes.ts'
import { notificationRoutes } from './core/notification/routes.ts'
import type { Route } from './core/rest/route.ts'
import { templateDraftRoutes } from './core/text/draft-routes.ts'
import { templateRoutes } from './core/text/routes.ts'
import { apiKeyRoutes } from './features/api-keys/routes.ts'
import { attachmentRoutes } from './features/attachments/routes.ts'
import { auditRoutes } from './features/audit/routes.ts'
import { categoryRoutes } from './features/categories/routes.ts'
import { peopleRoutes } from './features/custody/routes.ts'
import { deadLetterRoutes, retryRoutes } from './features/failures/routes.ts'
import { catalogueRoutes } from './features/languages/routes.ts'
import { sharedTextRoutes } from './features/layouts/routes.ts'
import { templateLintRoutes } from './features/lint/routes.ts'
import { organizationRoutes } from './features/organizations/routes.ts'
import { preferencePageRoutes } from './features/preferences/page-routes.ts'
import { preferenceRoutes } from './features/preferences/routes.ts'
import { receiptRoutes } from './features/receipts/routes.ts'
import { refusalRoutes } from './features/refusals/routes.ts'
import { retentionRoutes } from './features/retention/routes.ts'
import { statisticsRoutes } from './features/statistics/routes.ts'
import { suppressionRoutes } from './features/suppressions/routes.ts'
import { trackingRoutes } from './features/tracking/routes.ts'
import { eventDeliveryRoutes, webhookRoutes } from './features/webhook-events/routes.ts'
import { serviceRoutes } from './http/service-routes.ts'
import type { ServedNotifier } from './served-notifier.ts'

/** Every operation of the REST API. */
export const ROUTES: readonly Route<ServedNotifier>[] = [
  ...notificationRoutes,
  ...explainRoutes,
  ...retryRoutes,
  ...eventDeliveryRoutes,
  ...refusalRoutes,
  ...deadLetterRoutes,
  ...attachmentRoutes,
  ...templateRoutes,
  ...templateDraftRoutes,
  ...templateLintRoutes,
  ...sharedTextRoutes,
  ...catalogueRoutes,
  ...logRoutes,
  ...statisticsRoutes,
  ...retentionRoutes,
  ...accountRoutes,
  ...apiKeyRoutes,
  ...webhookRoutes,
  ...suppressionRoutes,
  ...categoryRoutes,
  ...preferenceRoutes,
  ...peopleRoutes,
  ...organizationRoutes,
  ...auditRoutes,
  ...receiptRoutes,
  ...preferencePageRoutes,
  ...trackingRoutes,
  ...serviceRoutes,
]
