import { acceptIn } from './0004-accept-in.ts'

/** The function of the migration, with the column. */
const acceptInFunction = acceptIn
  .slice(acceptIn.indexOf('CREATE FUNCTION'))
  .replace('accept_in_1', 'accept_in_2')
  .replace('content text)', 'content text, attachments text)')
  .replaceAll('trace, content', 'trace, content, attachments')

/** Attachments are a column that lists do not read, a JSON array; null: there are none. */
export const attachments: string = `
ALTER TABLE carillon.notifications ADD COLUMN attachments text;
${acceptInFunction}`
