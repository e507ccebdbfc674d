/**
 * Operator keys belong to no organization; older processes refuse them, because they do not know their format. SQLite
 * cannot make a column nullable, and renaming a table fails if the application has a broken view in the same file. So
 * the table is created anew, with its columns in the same order.
 */
export const operatorKeys = `
CREATE TABLE carillon_keys AS SELECT * FROM carillon_api_keys;
DROP TABLE carillon_api_keys;
CREATE TABLE carillon_api_keys (
  seq INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  organization TEXT REFERENCES carillon_organizations (id),
  hash BLOB NOT NULL UNIQUE,
  name TEXT NOT NULL,
  permission TEXT NOT NULL,
  prefix TEXT NOT NULL,
  last4 TEXT NOT NULL,
  expires_at INTEGER,
  allowed_ips TEXT NOT NULL, -- JSON
  created_at INTEGER NOT NULL,
  grants TEXT -- JSON
) STRICT;
CREATE INDEX carillon_api_keys_by_organization ON carillon_api_keys (organization);
INSERT INTO carillon_api_keys SELECT * FROM carillon_keys;
DROP TABLE carillon_keys;
`
