/** `seq` counts per organization, for lists. The table itself is the index for the lookup of every send. */
export const suppressions = `
CREATE TABLE carillon_suppressions (
  organization TEXT NOT NULL REFERENCES carillon_organizations (id),
  channel TEXT NOT NULL,
  address TEXT NOT NULL,
  seq INTEGER NOT NULL,
  reason TEXT NOT NULL,
  source TEXT,
  created_at INTEGER NOT NULL,
  PRIMARY KEY (organization, channel, address)
) STRICT, WITHOUT ROWID;
CREATE INDEX carillon_suppressions_by_organization ON carillon_suppressions (organization, seq);
CREATE INDEX carillon_suppressions_by_channel ON carillon_suppressions (organization, channel, seq);
`
