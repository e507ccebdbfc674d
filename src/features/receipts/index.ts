import type { Feature, FeatureCore } from '../../core/feature.ts'
import { preferences } from '../preferences/index.ts'
import type { Served } from './routes.ts'
import { createReceipts, type ReceiptServices } from './service.ts'

/** Reports of providers about messages that they took. */
export const receipts: Feature<Served, FeatureCore & ReceiptServices> = {
  name: 'receipts',
  create: (core) => ({ api: { receipts: createReceipts(core, core.use(preferences)) } }),
}
