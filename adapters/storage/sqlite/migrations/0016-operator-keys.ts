/**
 * Operator keys belong to no organization; an older process refuses them, since it does not know their form. SQLite cannot let
 * a column be null afterwards, and to rename a table fails for a view of the application's in the same file that is broken. So the
 * table is made anew, with its columns in the same order.
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
