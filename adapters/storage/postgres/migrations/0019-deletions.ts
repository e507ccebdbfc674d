import { attachments } from './0006-attachments.ts'
import { insert2 } from './0016-insert-2.ts'

/** The function of 0016-insert-2.ts. It checks for a deletion once the transaction has its number: see `fence`. */
const insertFunction = insert2.replace('insert_2', 'insert_3').replace(
  '  o_drawn := p_drawn_organizations IS NULL\n',
  `  PERFORM pg_current_xact_id();
  o_drawn := NOT EXISTS (SELECT FROM (SELECT DISTINCT unnest(p_organizations) AS id) AS g
    WHERE (SELECT o.deleting IS NULL FROM carillon.organizations AS o WHERE o.id = g.id) IS NOT TRUE);
  IF NOT o_drawn THEN
    RETURN;
  END IF;
  o_drawn := p_drawn_organizations IS NULL
`,
)

/**
 * The function of 0006-attachments.ts. A transaction with the snapshot of its first statement would miss a deletion
 * that began later. The row lock makes it fail if the organization has changed, and its caller retries.
 */
const acceptInFunction = attachments
  .slice(attachments.indexOf('CREATE FUNCTION'))
  .replace('accept_in_2', 'accept_in_3')
  .replace(
    '  IF NOT EXISTS (SELECT 1 FROM carillon.organizations WHERE id = v_organization) THEN',
    `  IF current_setting('transaction_isolation') <> 'read committed' THEN
    PERFORM 1 FROM carillon.organizations WHERE id = v_organization FOR KEY SHARE;
  END IF;
  IF NOT EXISTS (SELECT 1 FROM carillon.organizations WHERE id = v_organization AND deleting IS NULL) THEN`,
  )

/**
 * Deletes an organization without a lock in accepts: an accept takes a transaction number before it checks for a
 * deletion. `fence` is a number issued once every new check finds the deletion. When all transactions below it have
 * ended, no transaction can store anything for the organization.
 */
export const deletions: string = `
ALTER TABLE carillon.organizations ADD COLUMN deleting text; -- 'plain' or 'force'; null: it stays
ALTER TABLE carillon.organizations ADD COLUMN fence bigint;
CREATE INDEX templates_of_organization ON carillon.templates (organization, seq);
${insertFunction}
${acceptInFunction}`
