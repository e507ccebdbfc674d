import type { RecordBudget, RecordWrite } from '../../../src/core/ports/storage/records.ts'
import type { Runner, Transaction } from './connection.ts'

const SELECT_STORED = `
  SELECT coalesce(sum(bytes), 0)::bigint AS bytes FROM carillon.stored WHERE organization = $1`

/** In a fixed order, so that two sets cannot deadlock. */
const LOCK_BUDGETS = `
  SELECT pg_advisory_xact_lock(hashtextextended('carillon.stored ' || organization, 0))
  FROM (SELECT DISTINCT unnest($1::text[]) AS organization ORDER BY organization) AS wanted`

/** What an organization stores. */
export async function storedOf(runner: Runner, organizationId: string): Promise<number> {
  const [row] = await runner.rows<{ bytes: number }>(SELECT_STORED, [organizationId])
  return row?.bytes ?? 0
}

/** Writes with a budget follow each other, so that each sees what the others have stored. Others do not wait for them. */
export async function lockBudgets(tx: Transaction, writes: readonly RecordWrite[]): Promise<void> {
  const budgets = writes.flatMap((write) => ('budget' in write ? (write.budget ?? []) : []))
  if (budgets.length === 0) return
  await tx.rows(LOCK_BUDGETS, [budgets.map(({ organizationId }) => organizationId)])
}

export async function isOver(tx: Transaction, budget: RecordBudget | undefined): Promise<boolean> {
  return budget !== undefined && (await storedOf(tx, budget.organizationId)) > budget.bytes
}
