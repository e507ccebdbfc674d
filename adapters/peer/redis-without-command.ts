/** ioredis puts the refused command on its error: that of a connection is the password, and loggers write all of an error. */
export function withoutCommand(error: unknown): unknown {
  if (error instanceof Error && 'command' in error) delete error.command
  return error
}
