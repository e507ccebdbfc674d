/** The same methods for all organizations, with the organization's id as the first argument. */
export type PerTenant<Api> = {
  readonly [Name in keyof Api]: Api[Name] extends (...input: infer Input) => infer Output
    ? (organizationId: string, ...input: Input) => Output
    : PerTenant<Api[Name]>
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
  tenants: PerTenant<Api>,
  reading: Reading = { at: {}, read: () => undefined },
): (organizationId: string) => Api {
  const members = Object.entries<Method | PerTenant<object>>(tenants).map(([name, member]) => {
    if (typeof member !== 'function') return { name, bind: binding(member, reading) }
    const call = afterReading(member as Method, reading.at[name], reading.read)
    const bind =
      (organizationId: string): unknown =>
      (...input: unknown[]) =>
        call(organizationId, ...input)
    return { name, bind }
  })
  return (organizationId) => {
    const bound: Record<string, unknown> = {}
    for (const { name, bind } of members) bound[name] = bind(organizationId)
    return bound as Api
  }
}

function afterReading(method: Method, position: number | undefined, read: Reading['read']): Method {
  if (position === undefined) return method
  return (organizationId, ...input) => {
    const whole = read(input[position])
    if (whole === undefined) return method(organizationId, ...input)
    return whole.then((argument) => method(organizationId, ...input.with(position, argument)))
  }
}
