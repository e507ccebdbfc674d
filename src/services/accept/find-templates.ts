import type { Template } from '../../domain/template/template.ts'
import type { AcceptReads } from '../../ports/storage/accept.ts'

/** A template that a send names. */
export interface WantedTemplate {
  readonly organizationId: string
  readonly reference: string
}

/** Looks up what several sends name: one query for each organization among them. */
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
