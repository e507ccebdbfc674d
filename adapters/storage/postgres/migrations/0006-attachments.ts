import { acceptIn } from './0004-accept-in.ts'

/** The migration's function, with the new column. */
const acceptInFunction = acceptIn
  .slice(acceptIn.indexOf('CREATE FUNCTION'))
  .replace('accept_in_1', 'accept_in_2')
  .replace('content text)', 'content text, attachments text)')
  .replaceAll('trace, content', 'trace, content, attachments')

/** Attachments: a JSON array in a column that lists do not read. Null: none. */
export const attachments: string = `
ALTER TABLE carillon.notifications ADD COLUMN attachments text;
${acceptInFunction}`
