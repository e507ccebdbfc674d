import type { PageTexts } from '../../../domain/page-texts.ts'

export const de: PageTexts = {
  title: 'Ihre Benachrichtigungen',
  intro: 'Wählen Sie, was Sie erhalten möchten und wie.',
  always: 'Immer an: Diese Nachrichten brauchen Sie.',
  save: 'Speichern',
  saved: 'Ihre Einstellungen sind gespeichert.',
  none: 'Alles Freiwillige abbestellen',
  noneHint: 'Nachrichten, die immer an sind, erhalten Sie weiterhin.',
  manage: 'Alle Einstellungen',
  askTitle: 'Abbestellen?',
  askText: 'Sie erhalten diese Nachrichten dann nicht mehr.',
  confirm: 'Bitte bestätigen Sie.',
  unsubscribe: 'Abbestellen',
  doneTitle: 'Abbestellt',
  doneText: 'Sie erhalten diese Nachrichten nicht mehr.',
  unknownTitle: 'Dieser Link funktioniert nicht',
  unknownText: 'Er ist unvollständig oder abgelaufen.',
  general: 'Allgemeines',
  channels: { email: 'E-Mail', sms: 'SMS', push: 'Push-Nachricht' },
  categories: {},
}
