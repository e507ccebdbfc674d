/** In place of an organization's id: all organizations. No organization has this id. */
export const ALL_ORGANIZATIONS = '*'
