export { OperationsPage } from './operations/operations-page.tsx'
export { OrganizationsPage } from './organizations/organizations-page.tsx'
