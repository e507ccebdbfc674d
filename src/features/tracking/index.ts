import type { Feature, FeatureCore } from '../../core/feature.ts'
import type { PlanFinder } from '../../core/tenancy/plan-of.ts'
import { createTracker, type TrackerServices } from './tracker.ts'
import { createVisits, type VisitServices, type Visits } from './visits.ts'

interface TrackingServices extends FeatureCore, TrackerServices, VisitServices {
  readonly plans: PlanFinder
  /** Public mount address of the REST API. Undefined: nothing is tracked. */
  readonly publicUrl: string | undefined
}

/** Opens and clicks of HTML mails. */
export const tracking: Feature<{ readonly visits: Visits }, TrackingServices> = {
  name: 'tracking',
  create(core) {
    const { publicUrl, plans } = core
    const settings = async (organizationId: string) => (await plans.of(organizationId)).tracking
    return {
      api: { visits: createVisits(core) },
      tracker: publicUrl === undefined ? undefined : createTracker(publicUrl, settings, core),
    }
  },
}
