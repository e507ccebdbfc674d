import type { Feature } from '../../core/feature.ts'
import type { Served } from './routes.ts'
import { createReceipts, type ReceiptServices } from './service.ts'

/** Reports of providers about messages that they took. */
export const receipts: Feature<Served, ReceiptServices> = {
  name: 'receipts',
  create: (core) => ({ receipts: createReceipts(core) }),
}
