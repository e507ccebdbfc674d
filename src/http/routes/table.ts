import { accountRoutes } from './account.ts'
import { apiKeyRoutes } from './api-keys.ts'
import { attachmentRoutes } from './attachments.ts'
import { catalogueRoutes } from './catalogues.ts'
import { categoryRoutes } from './categories.ts'
import { deadLetterRoutes } from './dead-letters.ts'
import { logRoutes } from './logs.ts'
import { notificationRoutes } from './notifications.ts'
import { organizationRoutes } from './organizations.ts'
import { pageRoutes } from './pages.ts'
import { preferenceRoutes } from './preferences.ts'
import { receiptRoutes } from './receipts.ts'
import type { Route } from './route.ts'
import { serviceRoutes } from './service.ts'
import { sharedTextRoutes } from './shared-texts.ts'
import { statisticsRoutes } from './statistics.ts'
import { suppressionRoutes } from './suppressions.ts'
import { templateDraftRoutes } from './template-drafts.ts'
import { templateLintRoutes } from './template-lints.ts'
import { templateRoutes } from './templates.ts'
import { webhookRoutes } from './webhooks.ts'

/** Every operation of the REST API. */
export const ROUTES: readonly Route[] = [
  ...notificationRoutes,
  ...deadLetterRoutes,
  ...attachmentRoutes,
  ...templateRoutes,
  ...templateDraftRoutes,
  ...templateLintRoutes,
  ...sharedTextRoutes,
  ...catalogueRoutes,
  ...logRoutes,
  ...statisticsRoutes,
  ...accountRoutes,
  ...apiKeyRoutes,
  ...webhookRoutes,
  ...suppressionRoutes,
  ...categoryRoutes,
  ...preferenceRoutes,
  ...organizationRoutes,
  ...receiptRoutes,
  ...pageRoutes,
  ...serviceRoutes,
]
