import type { ComponentType } from 'preact'
import { NotificationPage } from '../pages/notifications/notification-page.tsx'
import { NotificationsPage } from '../pages/notifications/notifications-page.tsx'
import { OverviewPage } from '../pages/overview/overview-page.tsx'
import type { Texts } from '../texts/en.ts'
import type { IconName } from '../ui/icon.tsx'
import { decoded } from './base.ts'
import { lazy } from './lazy.tsx'

interface PageProps {
  readonly params: Readonly<Record<string, string>>
}

const lazyPage = lazy<PageProps>

// What most visits begin with loads at once, the others in a few parts.
const templates = () => import('../pages/templates.ts')
const onDemand = () => import('../pages/on-demand.ts')
const settings = () => import('../pages/settings.ts')
const operators = () => import('../pages/operators.ts')
const TemplatesPage = lazyPage(async () => (await templates()).TemplatesPage)
const TemplatePage = lazyPage(async () => (await templates()).TemplatePage)
const NewTemplatePage = lazyPage(async () => (await templates()).NewTemplatePage)
const LayoutsPage = lazyPage(async () => (await templates()).LayoutsPage)
const LayoutPage = lazyPage(async () => (await templates()).LayoutPage)
const PartialsPage = lazyPage(async () => (await templates()).PartialsPage)
const PartialPage = lazyPage(async () => (await templates()).PartialPage)
const CataloguesPage = lazyPage(async () => (await templates()).CataloguesPage)
const CataloguePage = lazyPage(async () => (await templates()).CataloguePage)
const FailuresPage = lazyPage(async () => (await onDemand()).FailuresPage)
const KeysPage = lazyPage(async () => (await settings()).KeysPage)
const WebhooksPage = lazyPage(async () => (await settings()).WebhooksPage)
const EndpointPage = lazyPage(async () => (await settings()).EndpointPage)
const SuppressionsPage = lazyPage(async () => (await settings()).SuppressionsPage)
const RecipientsPage = lazyPage(async () => (await settings()).RecipientsPage)
const CategoriesPage = lazyPage(async () => (await settings()).CategoriesPage)
const RefusalsPage = lazyPage(async () => (await settings()).RefusalsPage)
const QuietHoursPage = lazyPage(async () => (await settings()).QuietHoursPage)
const LimitsPage = lazyPage(async () => (await settings()).LimitsPage)
const AuditLogPage = lazyPage(async () => (await settings()).AuditLogPage)
const OperationsPage = lazyPage(async () => (await operators()).OperationsPage)
const OrganizationsPage = lazyPage(async () => (await operators()).OrganizationsPage)

/** A page: the paths it answers to, and where it stands in the menu. */
export interface PageEntry {
  /** Below the mount, or below `/o/{organization}` for a page of an organization. `:name` stands for one segment. */
  readonly path: string
  readonly scope: 'organization' | 'operator'
  readonly component: ComponentType<PageProps>
  /** It can also show all organizations together. */
  readonly overAll?: true
  /** Its entry in the menu. Left out, it belongs to the page whose path it begins with. */
  readonly menu?: { readonly title: keyof Texts['pages']; readonly icon: IconName }
}

/** Every page, in the order of the menu. */
export const PAGES: readonly PageEntry[] = [
  {
    path: '/',
    scope: 'organization',
    overAll: true,
    component: OverviewPage,
    menu: { title: 'overview', icon: 'overview' },
  },
  {
    path: '/notifications',
    scope: 'organization',
    overAll: true,
    component: NotificationsPage,
    menu: { title: 'notifications', icon: 'notifications' },
  },
  { path: '/notifications/:id', scope: 'organization', component: NotificationPage },
  {
    path: '/failures',
    scope: 'organization',
    overAll: true,
    component: FailuresPage,
    menu: { title: 'failures', icon: 'failures' },
  },
  {
    path: '/templates',
    scope: 'organization',
    component: TemplatesPage,
    menu: { title: 'templates', icon: 'templates' },
  },
  { path: '/templates/new', scope: 'organization', component: NewTemplatePage },
  { path: '/templates/layouts', scope: 'organization', component: LayoutsPage },
  { path: '/templates/layouts/:id', scope: 'organization', component: LayoutPage },
  { path: '/templates/partials', scope: 'organization', component: PartialsPage },
  { path: '/templates/partials/:id', scope: 'organization', component: PartialPage },
  { path: '/templates/messages', scope: 'organization', component: CataloguesPage },
  { path: '/templates/messages/:id', scope: 'organization', component: CataloguePage },
  { path: '/templates/:id', scope: 'organization', component: TemplatePage },
  { path: '/keys', scope: 'organization', component: KeysPage, menu: { title: 'keys', icon: 'keys' } },
  {
    path: '/webhooks',
    scope: 'organization',
    overAll: true,
    component: WebhooksPage,
    menu: { title: 'webhooks', icon: 'webhooks' },
  },
  { path: '/webhooks/:id', scope: 'organization', overAll: true, component: EndpointPage },
  {
    path: '/suppressions',
    scope: 'organization',
    component: SuppressionsPage,
    menu: { title: 'suppressions', icon: 'suppressions' },
  },
  {
    path: '/recipients',
    scope: 'organization',
    component: RecipientsPage,
    menu: { title: 'recipients', icon: 'recipients' },
  },
  {
    path: '/categories',
    scope: 'organization',
    component: CategoriesPage,
    menu: { title: 'categories', icon: 'categories' },
  },
  { path: '/refusals', scope: 'organization', component: RefusalsPage },
  {
    path: '/quiet-hours',
    scope: 'organization',
    component: QuietHoursPage,
    menu: { title: 'quietHours', icon: 'quietHours' },
  },
  {
    path: '/limits',
    scope: 'organization',
    component: LimitsPage,
    menu: { title: 'limits', icon: 'limits' },
  },
  {
    path: '/audit-log',
    scope: 'organization',
    overAll: true,
    component: AuditLogPage,
    menu: { title: 'auditLog', icon: 'auditLog' },
  },
  {
    path: '/',
    scope: 'operator',
    component: OperationsPage,
    menu: { title: 'operations', icon: 'operations' },
  },
  {
    path: '/organizations',
    scope: 'operator',
    component: OrganizationsPage,
    menu: { title: 'organizations', icon: 'organizations' },
  },
]

export interface FoundPage {
  readonly entry: PageEntry
  readonly params: Readonly<Record<string, string>>
}

/** The page of a path; null: there is none, or it is for operators only. */
export function findPage(path: string, operator: boolean): FoundPage | null {
  const within = /^\/o\/[^/]+(\/.*)?$/.exec(path)
  const scope = within === null ? 'operator' : 'organization'
  if (scope === 'operator' && !operator) return null
  const segments = (within === null ? path : (within[1] ?? '/'))
    .split('/')
    .filter((segment) => segment !== '')
  for (const entry of PAGES) {
    if (entry.scope !== scope) continue
    const params = matched(entry.path, segments)
    if (params !== null) return { entry, params }
  }
  return null
}

function matched(pattern: string, segments: readonly string[]): Record<string, string> | null {
  const parts = pattern.split('/').filter((part) => part !== '')
  if (parts.length !== segments.length) return null
  const params: Record<string, string> = {}
  for (const [index, part] of parts.entries()) {
    const segment = segments[index] ?? ''
    if (part.startsWith(':')) params[part.slice(1)] = decoded(segment)
    else if (part !== segment) return null
  }
  return params
}
