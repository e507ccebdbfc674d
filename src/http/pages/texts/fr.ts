import type { PageTexts } from '../../../domain/page-texts.ts'

export const fr: PageTexts = {
  title: 'Vos notifications',
  intro: 'Choisissez ce que vous voulez recevoir, et comment.',
  always: 'Toujours activé : ces messages vous sont nécessaires.',
  save: 'Enregistrer',
  saved: 'Vos choix sont enregistrés.',
  none: 'Se désabonner de tout ce qui est facultatif',
  noneHint: 'Vous recevrez encore les messages toujours activés.',
  manage: 'Tous les réglages',
  askTitle: 'Se désabonner ?',
  askText: 'Vous ne recevrez plus ces messages.',
  confirm: 'Veuillez confirmer.',
  unsubscribe: 'Se désabonner',
  doneTitle: 'Vous êtes désabonné',
  doneText: 'Vous ne recevrez plus ces messages.',
  unknownTitle: 'Ce lien ne fonctionne pas',
  unknownText: 'Il est incomplet ou a expiré.',
  general: 'Général',
  channels: { email: 'E-mail', sms: 'SMS', push: 'Notification push' },
  categories: {},
}
