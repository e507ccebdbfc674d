import type { PageTexts } from '../../../domain/page-texts.ts'

export const ar: PageTexts = {
  title: 'إعدادات الإشعارات',
  intro: 'اختر ما تريد استلامه وطريقة استلامه.',
  always: 'مفعّل دائمًا: هذه الرسائل ضرورية لك.',
  save: 'حفظ',
  saved: 'تم حفظ إعداداتك.',
  none: 'إلغاء الاشتراك في كل ما هو اختياري',
  noneHint: 'ستستمر في استلام الرسائل المفعّلة دائمًا.',
  manage: 'كل الإعدادات',
  askTitle: 'إلغاء الاشتراك؟',
  askText: 'لن تستلم هذه الرسائل بعد الآن.',
  confirm: 'يرجى التأكيد.',
  unsubscribe: 'إلغاء الاشتراك',
  doneTitle: 'تم إلغاء اشتراكك',
  doneText: 'لن تستلم هذه الرسائل بعد الآن.',
  unknownTitle: 'هذا الرابط لا يعمل',
  unknownText: 'الرابط غير مكتمل أو انتهت صلاحيته.',
  general: 'عام',
  channels: { email: 'البريد الإلكتروني', sms: 'رسالة نصية', push: 'إشعار فوري' },
  categories: {},
}
