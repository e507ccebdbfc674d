export { NewTemplatePage, TemplatePage } from './templates/template-page.tsx'
export { TemplatesPage } from './templates/templates-page.tsx'
