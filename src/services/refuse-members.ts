import { NotifierError } from '../domain/errors/notifier-error.ts'

/** JavaScript would say "is not a function". The members are hidden, so that a copy or a dump touches none. */
export function refuseMembers<Notifier extends object>(
  notifier: Notifier,
  names: readonly string[],
): Notifier {
  for (const name of names.filter((each) => !Object.hasOwn(notifier, each))) {
    Object.defineProperty(notifier, name, {
      get() {
        throw new NotifierError('invalid_configuration', {
          message: `With organizations: "required", use notifier.organization(id).${name}.`,
          details: { option: 'organizations' },
        })
      },
    })
  }
  return notifier
}
