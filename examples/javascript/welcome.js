/**
 * Welcomes a new customer. The comments are for editors, which then know the types.
 *
 * @param {import('carillon').Notifier} notifier
 * @param {{ readonly name: string, readonly email: string }} customer
 */
export function welcome(notifier, { name, email }) {
  return notifier.send({ channel: 'email', to: email, subject: `Welcome, ${name}`, body: 'Hello' })
}
