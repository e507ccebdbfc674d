/** Three bells of a carillon. */
export function Logo() {
  return (
    <svg class="logo" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <path d="M4 5h24v3H4z" />
      <path d="M6 10h4v5l2 4H4l2-4zM14 10h4v9l3 5H11l3-5zM22 10h4v4l2 4h-8l2-4z" />
    </svg>
  )
}
