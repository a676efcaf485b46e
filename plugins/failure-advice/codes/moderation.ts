import type { FailureEntries } from '../entry.ts'

/** The vendor's moderation of what goes in and of what comes out. */
export const moderationCodes: FailureEntries = {
  InputTextSensitiveContentDetected: {
    change: 'other_prompt',
    en: 'The vendor does not accept the text. Describe it in other words; the same text is refused again.',
    zh: '提示词未通过审核：请换一种表述，原文再次提交仍会被拒绝。',
  },
  InputImageSensitiveContentDetected: {
    change: 'other_picture',
    en: 'The vendor does not accept a picture. Take another one.',
    zh: '图片未通过审核：请更换图片。',
  },
  'InputImageSensitiveContentDetected.PrivacyInformation': {
    change: 'register_face',
    en: 'The picture shows a real person. Verify the face of this person, add the picture to that group, and refer to the asset; or take a picture without a person. If it is nobody real, `references: "auto"` makes an asset of it.',
    zh: '图片中有真人。请为其完成人脸认证，把图片加入对应的素材组后引用该素材；或改用没有真人的图片。如非真实人物，可用 `references: "auto"` 自动将其加入素材库。',
  },
  InputVideoSensitiveContentDetected: {
    change: 'other_video',
    en: 'The vendor does not accept an input video. Take another one.',
    zh: '输入视频未通过审核：请更换视频。',
  },
  'InputVideoSensitiveContentDetected.PrivacyInformation': {
    change: 'register_face',
    en: 'The input video shows a real person. Verify the face of this person, add the video to that group, and refer to the asset; or take a video without a person.',
    zh: '输入视频中有真人。请为其完成人脸认证，把视频加入对应的素材组后引用该素材；或改用没有真人的视频。',
  },
  InputAudioSensitiveContentDetected: {
    change: 'other_audio',
    en: 'The vendor does not accept an input audio. Take another one.',
    zh: '输入音频未通过审核：请更换音频。',
  },
  OutputTextSensitiveContentDetected: {
    ...{ retry: true, change: 'other_prompt' },
    en: 'The generated text did not pass moderation. Another try may pass; a clearer prompt helps.',
    zh: '生成的文本未通过审核：可以重试，修改提示词更有效。',
  },
  OutputImageSensitiveContentDetected: {
    ...{ retry: true, change: 'other_prompt' },
    en: 'The generated picture did not pass moderation. Another try may pass; a clearer prompt helps.',
    zh: '生成的图片未通过审核：可以重试，修改提示词更有效。',
  },
  OutputVideoSensitiveContentDetected: {
    ...{ retry: true, change: 'other_prompt' },
    en: 'The generated video did not pass moderation. Another try gives another video and may pass; a clearer prompt helps.',
    zh: '生成的视频未通过审核：重试会生成不同的视频，可能通过；修改提示词更有效。',
  },
  OutputAudioSensitiveContentDetected: {
    ...{ retry: true, change: 'without_audio' },
    en: 'The generated sound did not pass moderation, which happens to harmless prompts too. Send the same request without audio (`generate_audio: false`).',
    zh: '生成的声音未通过审核，正常的提示词也可能遇到。请关闭音频（`generate_audio: false`）后重新提交。',
  },
  RiskDetection: {
    change: 'other_prompt',
    en: 'The vendor sees a risk in the request. Change the text and the inputs.',
    zh: '厂商的风控拦截了该请求：请修改提示词和输入内容。',
  },
  SensitiveContentDetected: {
    change: 'other_prompt',
    en: 'The request did not pass moderation. Change the text and the inputs.',
    zh: '请求未通过审核：请修改提示词和输入内容。',
  },
  ContentRestricted: {
    change: 'other_picture',
    en: 'The vendor does not accept the content of the file. Take another one.',
    zh: '文件内容受限，厂商不予接受：请更换文件。',
  },
}
