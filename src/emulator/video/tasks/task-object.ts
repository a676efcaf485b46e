import { pixelsOf, type Ratio } from '../models.ts'
import type { ResultLinks } from '../results/results.ts'
import type { VideoTask } from './task.ts'

/**
 * The task as GET and callbacks have it. Items of lists have `failure_reason` where GET has `error`. Times are in
 * seconds since 1970.
 */
export const taskObject = (task: VideoTask, linksOf: (task: VideoTask) => ResultLinks, listed = false): object => {
  const { request, error = null } = task
  return {
    id: task.id,
    model: task.model.id,
    status: task.status,
    ...(listed ? error && { failure_reason: error } : { error }),
    created_at: Math.floor(task.createTime / 1000),
    updated_at: Math.floor(task.updateTime / 1000),
    ...(task.status === 'succeeded' && { content: linksOf(task), ...resultFields(task) }),
    service_tier: request.serviceTier,
    execution_expires_after: request.expiresAfter,
    ...(request.generateAudio !== undefined && { generate_audio: request.generateAudio }),
    ...(request.outputFormat !== undefined && { output_format: request.outputFormat }),
    ...(request.draftTaskId !== undefined && { draft_task_id: request.draftTaskId }),
    ...(request.draft && { draft: true }),
    ...(request.priority !== undefined && { priority: request.priority }),
    ...(request.safetyIdentifier !== undefined && { safety_identifier: request.safetyIdentifier }),
    ...(request.tools.length > 0 && { tools: request.tools.map((type) => ({ type })) }),
  }
}

const resultFields = (task: VideoTask): object => {
  const { request, model } = task
  const { ratio, seconds, seed, completionTokens } = generatedOf(task)
  const revised = model.family !== '1.0' && request.prompt !== ''
  return {
    seed,
    resolution: request.resolution,
    ratio,
    ...(request.frames === undefined ? { duration: Math.floor(seconds) } : { frames: request.frames }),
    framespersecond: 24,
    ...(revised && { revised_prompt: `${request.prompt} Smooth camera movement, natural light.` }),
    usage: {
      completion_tokens: completionTokens,
      total_tokens: completionTokens,
      ...(request.tools.length > 0 && { tool_usage: { web_search: 1 } }),
    },
  }
}

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
