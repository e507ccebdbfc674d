/** Texts of rows that are selected. */
export const selection = {
  title: 'Select',
  row: (name: string) => `Select ${name}`,
  rows: 'Select all that are shown',
  count: (count: string) => `${count} selected`,
  whole: 'All that match are selected',
  chooseWhole: 'Select all that match',
  clear: 'Clear selection',
  cancel: 'Cancel them',
  retry: 'Retry them',
}
