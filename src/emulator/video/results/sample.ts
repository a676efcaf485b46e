import { sampleFrame } from './sample-frame.ts'
import { sampleVideo } from './sample-video.ts'

const boxHeader = 8

/**
 * A playable video: the sample, then a `free` box (ISO/IEC 14496-12 section 8.1.2) with the id of the task, so that the
 * videos of two tasks differ, and zeros up to `size` bytes. `mov` has the brand of QuickTime.
 */
export const videoOf = (taskId: string, format: 'mp4' | 'mov' = 'mp4', size = 0): Uint8Array => {
  const id = Buffer.from(taskId)
  const free = Buffer.alloc(Math.max(boxHeader + id.length, size - sampleVideo.length))
  free.writeUInt32BE(free.length)
  free.write('free', 4)
  id.copy(free, boxHeader)
  const video = Buffer.concat([sampleVideo, free])
  if (format === 'mov') video.write('qt  ', 8)
  return video
}

/** A JPEG image: the last frame of the sample, with the id of the task as comment. */
export const frameOf = (taskId: string): Uint8Array => {
  const id = Buffer.from(taskId)
  const comment = Buffer.from([0xff, 0xfe, 0, id.length + 2])
  return Buffer.concat([sampleFrame.subarray(0, 2), comment, id, sampleFrame.subarray(2)])
}
