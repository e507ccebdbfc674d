/** The code of a system call or of TLS, or else the name: protocol errors have no code. */
export function codeOf(error: unknown): string {
  const { code, name } = error as NodeJS.ErrnoException
  return code ?? name
}
