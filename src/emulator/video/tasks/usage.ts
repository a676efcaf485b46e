import { pixelsOf, type Ratio } from '../models.ts'
import type { VideoTask } from './task.ts'

const framesPerSecond = 24
/**
 * With an input video, 2.0 has a minimum charge. The vendor publishes only estimates; here: as if the input had 4
 * seconds.
 */
const minInputSeconds = 4

/** The properties of the generated video. */
export interface Generated {
  readonly ratio: Exclude<Ratio, 'adaptive'>
  /** with fractions, where the request has `frames` */
  readonly seconds: number
  readonly seed: number
  readonly completionTokens: number
}

/** What a succeeded task has generated. It depends only on the task. */
export const generatedOf = ({ request, model, number }: VideoTask): Generated => {
  const { frames, duration, inputSeconds, resolution } = request
  const ratio = request.ratio === 'adaptive' ? '16:9' : request.ratio
  const automatic = inputSeconds > 0 ? Math.min(Math.floor(inputSeconds), 30) : 5
  const seconds = frames === undefined ? (duration === -1 ? automatic : duration) : frames / framesPerSecond
  const charged = inputSeconds > 0 && model.family === '2.0' ? Math.max(inputSeconds, minInputSeconds) : inputSeconds
  // tokens = (input seconds + output seconds) * width * height * frames per second / 1024
  const tokens = ((charged + seconds) * pixelsOf(resolution, ratio) * framesPerSecond) / 1024
  const seed = request.seed === -1 ? (number * 7919 + 11) % 2 ** 31 : request.seed
  return { ratio, seconds, seed, completionTokens: Math.floor(tokens) }
}
