import type { PageTexts } from '../../../domain/page-texts.ts'

export const es: PageTexts = {
  title: 'Sus notificaciones',
  intro: 'Elija qué quiere recibir y cómo.',
  always: 'Siempre activado: estos mensajes son necesarios.',
  save: 'Guardar',
  saved: 'Sus preferencias se han guardado.',
  none: 'Cancelar todo lo opcional',
  noneHint: 'Seguirá recibiendo los mensajes que están siempre activados.',
  manage: 'Todas las preferencias',
  askTitle: '¿Cancelar la suscripción?',
  askText: 'Ya no recibirá estos mensajes.',
  confirm: 'Confirme, por favor.',
  unsubscribe: 'Cancelar la suscripción',
  doneTitle: 'Suscripción cancelada',
  doneText: 'Ya no recibirá estos mensajes.',
  unknownTitle: 'Este enlace no funciona',
  unknownText: 'Está incompleto o ha caducado.',
  general: 'General',
  channels: { email: 'Correo electrónico', sms: 'SMS', push: 'Notificación push' },
  categories: {},
}
