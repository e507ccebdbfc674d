import type { Template } from '../../domain/template/template.ts'
import type { AcceptReads } from '../../ports/storage/accept.ts'

export interface WantedTemplate {
  readonly organizationId: string
  readonly reference: string
}

/** Finds the templates of several sends: one query per organization. */
export async function findTemplates(
  storage: Pick<AcceptReads, 'templates'>,
  wanted: readonly WantedTemplate[],
): Promise<(Template | null)[]> {
  const byOrganization = new Map<string, Set<string>>()
  for (const { organizationId, reference } of wanted) {
    const references = byOrganization.get(organizationId) ?? new Set()
    byOrganization.set(organizationId, references.add(reference))
  }
  const found = new Map<string, Template | null>()
  for (const [organizationId, asked] of byOrganization) {
    const references = [...asked]
    const templates = await storage.templates.find(organizationId, references)
    for (const [position, reference] of references.entries()) {
      found.set(`${organizationId} ${reference}`, templates[position] ?? null)
    }
  }
  return wanted.map(({ organizationId, reference }) => found.get(`${organizationId} ${reference}`) ?? null)
}
