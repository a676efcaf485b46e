import type { ConsentStatus } from '../../shared/consent/schema.ts'
import type { Consent } from '../../shared/consent/store.ts'
import { viewOfConsent } from '../../shared/consent/view.ts'
import { type Language, languageOf } from '../../shared/page/language.ts'
import { messagePage, type PageForm } from '../../shared/page/message-page.ts'

interface PageText {
  readonly title: string
  readonly text: string
}

type Outcome = ConsentStatus | 'unknown' | 'error'

const texts: Readonly<Record<Language, Readonly<Record<Outcome, PageText>>>> = {
  en: {
    active: {
      title: 'Your consent',
      text: 'Your face was verified, and pictures of you may be used to make videos. You can withdraw your consent at any time: nothing new is made from then on. You can also have the pictures, and the videos made with them, deleted. Neither can be undone.',
    },
    withdrawn: {
      title: 'Consent withdrawn',
      text: 'Nothing new is made with pictures of you. What was made before is still there, unless you have it deleted.',
    },
    deleting: {
      title: 'Being deleted',
      text: 'Your consent is withdrawn. The pictures, and the videos made with them, are being deleted. This page will show when that is done.',
    },
    deleted: {
      title: 'Deleted',
      text: 'Your consent is withdrawn, and the pictures and the videos made with them are deleted.',
    },
    unknown: {
      title: 'No consent found',
      text: 'This address belongs to no consent. If you have just finished your check, please reload this page in a minute.',
    },
    error: {
      title: 'Please reload this page',
      text: 'It could not be done just now. Please keep this page and try again in a minute.',
    },
  },
  zh: {
    active: {
      title: '您的授权',
      text: '您的人脸已通过验证，您的图片可用于制作视频。您可以随时撤回授权：此后不会再制作任何新内容。您还可以要求删除图片以及用它们制作的视频。这两项操作均无法撤销。',
    },
    withdrawn: {
      title: '授权已撤回',
      text: '不会再用您的图片制作任何新内容。此前制作的内容仍然存在，除非您要求删除。',
    },
    deleting: {
      title: '正在删除',
      text: '您的授权已撤回。图片以及用它们制作的视频正在删除。删除完成后，本页面会显示。',
    },
    deleted: { title: '已删除', text: '您的授权已撤回，图片以及用它们制作的视频均已删除。' },
    unknown: { title: '没有找到授权', text: '此地址不属于任何授权。如果您刚刚完成验证，请一分钟后重新加载本页面。' },
    error: { title: '请重新加载', text: '暂时无法完成操作。请保留此页面，一分钟后重试。' },
  },
}

const actions: Readonly<Record<Language, Readonly<Record<'withdraw' | 'delete' | 'export', string>>>> = {
  en: { withdraw: 'Withdraw my consent', delete: 'Withdraw and delete everything', export: 'Signed record (JSON)' },
  zh: { withdraw: '撤回授权', delete: '撤回并删除全部内容', export: '带签名的记录（JSON）' },
}

const offered: Readonly<Partial<Record<Outcome, readonly ('withdraw' | 'delete')[]>>> = {
  active: ['withdraw', 'delete'],
  withdrawn: ['delete'],
}

const statuses: Readonly<Partial<Record<Outcome, number>>> = { unknown: 404, error: 500 }

/** The page of a person's consent, at this address. Undefined: no consent has this address. */
export const consentPage = (
  consent: Consent | undefined | 'error',
  url: string,
  acceptLanguage: string | null,
): Response => {
  const language = languageOf(acceptLanguage)
  const outcome = consent === 'error' ? consent : consent ? viewOfConsent(consent).Status : 'unknown'
  const forms = (offered[outcome] ?? []).map(
    (action): PageForm => ({ text: actions[language][action], action: `${url}/${action}` }),
  )
  const hasExport = consent !== undefined && consent !== 'error'
  return messagePage({
    ...{ ...texts[language][outcome], language, status: statuses[outcome], forms },
    link: hasExport ? { text: actions[language].export, href: `${url}/export` } : undefined,
  })
}
