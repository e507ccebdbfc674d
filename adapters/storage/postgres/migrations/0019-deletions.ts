import { attachments } from './0006-attachments.ts'
import { insert2 } from './0016-insert-2.ts'

/** What 0016-insert-2.ts does. Looked at after the transaction has its number: see `fence`. */
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
 * What 0006-attachments.ts does. A transaction that goes on with what it saw at its first statement would not see that a
 * deletion has begun since: where the organization has changed it is refused, and run again by its caller.
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
 * The deletion of an organization, without a lock on the path of accepts: an accept takes a transaction number before it looks
 * for a deletion. `fence` is a number given once every new look finds the deletion. When all transactions below it have
 * ended, none can store anything for the organization.
 */
export const deletions: string = `
ALTER TABLE carillon.organizations ADD COLUMN deleting text; -- 'plain' or 'force'; null: it stays
ALTER TABLE carillon.organizations ADD COLUMN fence bigint;
CREATE INDEX templates_of_organization ON carillon.templates (organization, seq);
${insertFunction}
${acceptInFunction}`
