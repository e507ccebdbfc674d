/** The same methods for all organizations, with the organization's id as the first argument. */
export type Scoped<Api> = {
  readonly [Name in keyof Api]: Api[Name] extends (...input: infer Input) => infer Output
    ? (organizationId: string, ...input: Input) => Output
    : Scoped<Api[Name]>
}

type Method = (organizationId: string, ...input: readonly unknown[]) => unknown
type Bind = (organizationId: string) => unknown

/** The arguments of calls that are read before the call, such as messages with files. */
export interface Reading {
  /** The position of the argument, by the names of the method and what it belongs to. */
  readonly at: Positions
  /** The argument as read. Undefined: there is nothing to read. */
  read(argument: unknown): Promise<unknown> | undefined
}

export interface Positions {
  readonly [name: string]: number | Positions
}

/** Returns a function that binds the methods to an organization. */
export function binding<Api extends object>(
  scoped: Scoped<Api>,
  { at, read }: Reading = { at: {}, read: () => undefined },
): (organizationId: string) => Api {
  const members = Object.entries<Method | Scoped<object>>(scoped).map(([name, member]): [string, Bind] => {
    const where = at[name]
    if (typeof member !== 'function')
      return [name, binding(member, { read, at: typeof where === 'object' ? where : {} })]
    if (typeof where !== 'number')
      return [
        name,
        (id) =>
          (...input: unknown[]) =>
            member(id, ...input),
      ]
    const readFirst: Bind =
      (id) =>
      (...input: unknown[]) => {
        const reading = read(input[where])
        if (reading === undefined) return member(id, ...input)
        return reading.then((argument) => member(id, ...input.with(where, argument)))
      }
    return [name, readFirst]
  })
  return (organizationId) => {
    const bound: Record<string, unknown> = {}
    for (const [name, bind] of members) bound[name] = bind(organizationId)
    return bound as Api
  }
}
