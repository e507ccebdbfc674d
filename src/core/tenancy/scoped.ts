/** The same methods for all organizations, with the organization's id as the first argument. */
export type Scoped<Api> = {
  readonly [Name in keyof Api]: Api[Name] extends (...input: infer Input) => infer Output
    ? (organizationId: string, ...input: Input) => Output
    : Scoped<Api[Name]>
}

/** Arguments of calls from code that are read before the call, such as messages with files. */
export interface Reading {
  /** The position of the argument, by the name of the method. */
  readonly at: Readonly<Record<string, number>>
  /** The argument as read. Undefined: there is nothing to read. */
  read(argument: unknown): Promise<unknown> | undefined
}

type Method = (organizationId: string, ...input: unknown[]) => unknown

/** Returns what binds the methods to an organization. */
export function binding<Api extends object>(
  scoped: Scoped<Api>,
  reading: Reading = { at: {}, read: () => undefined },
): (organizationId: string) => Api {
  const { at, read } = reading
  const members = Object.entries<Method | Scoped<object>>(scoped).map(([name, member]) => {
    if (typeof member !== 'function') return { name, bind: binding(member, reading) }
    const position = at[name]
    if (position === undefined)
      return {
        name,
        bind:
          (id: string) =>
          (...input: unknown[]) =>
            member(id, ...input),
      }
    const bind =
      (id: string) =>
      (...input: unknown[]) => {
        const whole = read(input[position])
        return whole === undefined
          ? member(id, ...input)
          : whole.then((argument) => member(id, ...input.with(position, argument)))
      }
    return { name, bind }
  })
  return (organizationId) => {
    const bound: Record<string, unknown> = {}
    for (const { name, bind } of members) bound[name] = bind(organizationId)
    return bound as Api
  }
}
