import { invalidOption } from '../errors/invalid-option.ts'

/** JavaScript would say "is not a function". The members are hidden, so that a copy or a dump touches none. */
export function refuseMembers<Notifier extends object>(
  notifier: Notifier,
  names: readonly string[],
): Notifier {
  for (const name of names.filter((each) => !Object.hasOwn(notifier, each))) {
    Object.defineProperty(notifier, name, {
      get() {
        const message = `With organizations: "required", use notifier.organization(id).${name}.`
        throw invalidOption('organizations', message)
      },
    })
  }
  return notifier
}
