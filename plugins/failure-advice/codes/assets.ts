import type { FailureChange, FailureEntries, FailureEntry } from '../entry.ts'

const file = (change: FailureChange, en: string, zh: string): FailureEntry => ({
  change,
  en: `${en} A failed asset is never tried again: create it again.`,
  zh: `${zh}失败的素材不会自动重试，请重新创建。`,
})

/** Codes that the vendor has in two ways: alone in a failed asset, and after `InvalidParameter.` in a create call. */
const fileCodes: FailureEntries = {
  DurationTooShort: file('longer', 'The file is too short.', '文件时长过短。'),
  DurationTooLong: file('shorter', 'The file is too long.', '文件时长过长。'),
  WidthTooSmall: file('larger', 'The picture has too few pixels in width.', '宽度像素过小。'),
  WidthTooLarge: file('smaller', 'The picture has too many pixels in width.', '宽度像素过大。'),
  HeightTooSmall: file('larger', 'The picture has too few pixels in height.', '高度像素过小。'),
  HeightTooLarge: file('smaller', 'The picture has too many pixels in height.', '高度像素过大。'),
  PixelCountTooSmall: file('larger', 'The file has too few pixels.', '总像素数过少。'),
  PixelCountTooLarge: file('smaller', 'The file has too many pixels.', '总像素数过多。'),
  AspectRatioTooSmall: file('other_ratio', 'The file is too narrow for its height.', '画面过窄，宽高比过小。'),
  AspectRatioTooLarge: file('other_ratio', 'The file is too wide for its height.', '画面过宽，宽高比过大。'),
  FileSizeTooLarge: file('smaller', 'The file has too many bytes.', '文件过大。'),
  FpsTooLow: file('other_frame_rate', 'The video has too few frames a second.', '视频帧率过低。'),
  FpsTooHigh: file('other_frame_rate', 'The video has too many frames a second.', '视频帧率过高。'),
  AudioTrackRequired: file('with_audio', 'The video needs a sound track.', '视频缺少音轨。'),
  AudioTrackForbidden: file('without_audio', 'The video must not have a sound track.', '视频不能带音轨。'),
  TypeMismatch: file(
    'other_format',
    'The file is of another type than the request says.',
    '文件类型与请求中指定的不一致。',
  ),
  FormatUnsupported: file('other_format', 'The vendor does not read this format.', '不支持该文件格式。'),
  FormatUndetectable: file('other_format', 'The vendor could not tell what kind of file it is.', '无法识别文件格式。'),
  UnsupportedImageFormat: file(
    'other_format',
    'The vendor does not read this format of pictures.',
    '不支持该图片格式。',
  ),
}

/** Files, as the vendor judges them when an asset is made of them, or when a task reads them. */
export const assetCodes: FailureEntries = {
  ...fileCodes,
  ...Object.fromEntries(Object.entries(fileCodes).map(([code, entry]) => [`InvalidParameter.${code}`, entry])),
  DownloadFailed: file(
    'reachable_address',
    'The vendor could not download the file. Its address must be reachable from the internet without a login.',
    '厂商无法下载该文件，其地址必须可以从公网免登录访问。',
  ),
  FaceMismatch: file(
    'other_picture',
    'The file does not show the face of the verified person, or it shows several faces. Take a clear picture of this person alone.',
    '文件中的人脸与认证人不一致，或有多张人脸。请使用该认证人单独、清晰的照片。',
  ),
  TranscodingFailed: {
    ...{ retry: true, change: 'other_format', by: 'vendor' },
    en: 'The vendor could not convert the file. Create the asset once more; if it fails again, save the file in another format.',
    zh: '厂商转码失败：请重新创建素材；如仍失败，请换一种格式保存文件。',
  },
  InternalError: {
    ...{ retry: true, retry_after: 60, by: 'vendor' },
    en: 'The vendor had an internal error while it processed the file. Create the asset again.',
    zh: '厂商处理文件时发生内部错误：请重新创建素材。',
  },
}
