/** How much of something is used, as a bar. */
export function Meter({
  label,
  value,
  most,
  text,
}: {
  readonly label: string
  readonly value: number
  readonly most: number
  readonly text: string
}) {
  return (
    <meter
      aria-label={label}
      min={0}
      max={most}
      low={most * 0.8}
      high={most * 0.95}
      optimum={0}
      value={Math.min(value, most)}
    >
      {text}
    </meter>
  )
}
