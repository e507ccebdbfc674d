export { SESSION_MS } from './service.ts'
